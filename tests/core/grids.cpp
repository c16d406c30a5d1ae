#include "grids.hpp"

#include <numeric>

namespace {

/// Returns the cut of an extent over `ranks` at even places, at uneven ones, or with nothing on the first rank.
ht::detail::Cut cut_of(std::int64_t extent, int ranks, int kind) {
  std::vector<std::int64_t> offsets{0};
  for (int r = 1; r < ranks; ++r)
    offsets.push_back(kind == 1 ? extent * r * r / (ranks * ranks) : (r - 1) * extent / ranks);
  offsets.push_back(extent);
  return kind == 0 ? ht::detail::Cut::even(extent, ranks) : ht::detail::Cut::at(offsets);
}

}  // namespace

std::vector<Along> factorings(std::size_t axes, int ranks) {
  if (axes == 0) return ranks == 1 ? std::vector<Along>{{}} : std::vector<Along>{};
  std::vector<Along> all;
  for (int first = 1; first <= ranks; ++first)
    if (ranks % first == 0)
      for (auto along : factorings(axes - 1, ranks / first)) {
        along.insert(along.begin(), first);
        all.push_back(along);
      }
  return all;
}

std::vector<ht::Layout> every_grid(const ht::Shape& shape) {
  std::vector<ht::Layout> layouts;
  std::vector<int> reverse(static_cast<std::size_t>(ht::world().size()));
  std::iota(reverse.rbegin(), reverse.rend(), 0);
  for (const auto& along : factorings(shape.size(), ht::world().size()))
    for (const int kind : {0, 1, 2}) {
      std::vector<ht::detail::Cut> cuts;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) cuts.push_back(cut_of(shape[axis], along[axis], kind));
      layouts.push_back(ht::Layout::from_cuts(shape, cuts, kind == 1 ? reverse : std::vector<int>()));
    }
  return layouts;
}

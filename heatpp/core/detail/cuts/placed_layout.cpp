#include <heatpp/core/detail/cuts/placed_layout.hpp>

namespace heatpp::detail {

Layout placed_layout(Shape shape, const std::vector<PlacedCut>& axes) {
  std::vector<Cut> cuts;
  int ranks = 1;
  for (const auto& axis : axes) {
    cuts.push_back(axis.cut);
    ranks *= axis.cut.ranks();
  }
  std::vector<int> cells;
  for (int rank = 0; rank < ranks; ++rank) {
    int cell = 0;
    for (const auto& [cut, part] : axes)
      if (cut.ranks() > 1) cell = cell * cut.ranks() + part(rank);
    cells.push_back(cell);
  }
  return Layout::from_cuts(std::move(shape), std::move(cuts), std::move(cells));
}

Cut refined(const Cut& cut, int parts) {
  if (parts == 1) return cut;
  std::vector<std::int64_t> offsets;
  for (int rank = 0; rank < cut.ranks(); ++rank) {
    const auto inside = Cut::even(cut.extent(rank), parts);
    for (int part = 0; part < parts; ++part) offsets.push_back(cut.first(rank) + inside.first(part));
  }
  offsets.push_back(cut.extent());
  return Cut::at(std::move(offsets));
}

Cut coarsened(const Cut& cut, int parts) {
  if (parts == 1) return cut;
  std::vector<std::int64_t> offsets;
  for (int rank = 0; rank <= cut.ranks(); rank += parts) offsets.push_back(cut.first(rank));
  return Cut::at(std::move(offsets));
}

}  // namespace heatpp::detail

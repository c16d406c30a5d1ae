#include <heatpp/core/detail/cuts/without_copies.hpp>

#include <heatpp/core/blocks/detail/parts.hpp>

#include <algorithm>

namespace heatpp {
namespace {

/// Returns the axis along which blocks are longest.
int longest_axis(const Layout& layout) {
  const auto length = [&](int axis) {
    return static_cast<double>(layout.shape()[static_cast<std::size_t>(axis)]) / layout.cut_along(axis).ranks();
  };
  int longest = 0;
  for (int axis = 1; axis < layout.ndim(); ++axis)
    if (length(axis) > length(longest)) longest = axis;
  return longest;
}

/// Returns a cut whose parts are cut into `shares` even ones.
detail::Cut in_shares(const detail::Cut& cut, int shares) {
  std::vector<std::int64_t> offsets{0};
  for (int part = 0; part < cut.ranks(); ++part)
    for (int share = 1; share <= shares; ++share)
      offsets.push_back(cut.first(part) + detail::Cut::even(cut.extent(part), shares).first(share));
  return detail::Cut::at(std::move(offsets));
}

Layout layout_of_shares(const Layout& layout) {
  const auto& grid = layout.grid_cut();
  const auto dealt = longest_axis(layout);
  auto cuts = grid.cuts();
  cuts[static_cast<std::size_t>(dealt)] = in_shares(layout.cut_along(dealt), grid.copies());
  std::vector<int> cells;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    int cell = 0;
    for (int axis = 0; axis < layout.ndim(); ++axis) {
      const auto place = layout.place_along(axis, rank);
      cell = cell * cuts[static_cast<std::size_t>(axis)].ranks() +
             (axis == dealt ? place * grid.copies() + grid.copy_of(rank) : place);
    }
    cells.push_back(cell);
  }
  return Layout::from_cuts(layout.shape(), std::move(cuts), std::move(cells));
}

}  // namespace

DNDarray detail::without_copies(const DNDarray& x) {
  if (!x.layout().is_grid() || x.layout().grid_cut().copies() == 1) return x;
  auto layout = layout_of_shares(x.layout());
  const auto rank = x.comm().rank();
  auto share = part_in_box(x.larray(), x.layout().local_offset(rank), box_of(layout, rank));
  return wrap(std::move(share), std::move(layout), x.comm());
}

}  // namespace heatpp

#include <heatpp/fft/detail/pencils.hpp>

#include <heatpp/core/detail/cuts/placed_layout.hpp>
#include <heatpp/core/detail/relayout.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::detail {
namespace {

/// Returns the axis that takes the ranks along `axis`.
int axis_to_cut(const Layout& layout, int axis) {
  const auto ranks = layout.cut_along(axis).ranks();
  const auto fitness = [&](int other) {
    const auto extent = layout.shape()[static_cast<std::size_t>(other)];
    const auto parts = layout.cut_along(other).ranks();
    return std::pair(parts == 1 && extent >= ranks, static_cast<double>(extent) / parts);
  };
  auto best = axis == 0 ? 1 : 0;
  for (int other = best + 1; other < layout.ndim(); ++other)
    if (other != axis && fitness(other) > fitness(best)) best = other;
  return best;
}

Layout pencils_along(const Layout& layout, int axis, int other) {
  const auto ranks = layout.cut_along(axis).ranks();
  std::vector<PlacedCut> axes;
  for (int i = 0; i < layout.ndim(); ++i) {
    const auto extent = layout.shape()[static_cast<std::size_t>(i)];
    const auto place = [&layout, i](int rank) { return layout.place_along(i, rank); };
    if (i == axis) axes.push_back({Cut::even(extent, 1), {}});
    else if (i == other)
      axes.push_back({refined(layout.cut_along(i), ranks), [&layout, place, axis, ranks](int rank) {
                        return place(rank) * ranks + layout.place_along(axis, rank);
                      }});
    else axes.push_back({layout.cut_along(i), place});
  }
  return placed_layout(layout.shape(), axes);
}

}  // namespace

DNDarray with_whole_lines(const DNDarray& x, int axis) {
  const auto& layout = x.layout();
  if (layout.cut_along(axis).ranks() == 1) return x;
  return brought_to(x, pencils_along(layout, axis, axis_to_cut(layout, axis)));
}

std::size_t next_axis(const Layout& layout, const std::vector<int>& axes) {
  std::vector<int> uncut;
  for (int axis = 0; axis < layout.ndim(); ++axis)
    if (layout.cut_along(axis).ranks() == 1) uncut.push_back(axis);
  const auto distance = [&](int axis) {
    int least = uncut.empty() ? 0 : layout.ndim();
    for (const auto other : uncut) least = std::min(least, std::abs(axis - other));
    return least;
  };
  std::size_t next = 0;
  for (std::size_t i = 1; i < axes.size(); ++i)
    if (std::pair(-distance(axes[i]), axes[i]) > std::pair(-distance(axes[next]), axes[next])) next = i;
  return next;
}

}  // namespace heatpp::detail

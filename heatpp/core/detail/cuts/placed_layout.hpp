#pragma once

#include <heatpp/core/layout.hpp>

#include <functional>

namespace heatpp::detail {

/// Where an axis is cut, and which part of it each rank holds.
struct PlacedCut {
  Cut cut;
  std::function<int(int rank)> part;  ///< may be empty if the cut is over one rank
};

/// Makes the layout whose rank r holds part axes[i].part(r) along each axis i. Each combination of parts has one rank.
/// Takes time and memory for each rank.
[[nodiscard]] Layout placed_layout(Shape shape, const std::vector<PlacedCut>& axes);

/// Returns the cut with each part cut again, evenly over `parts`.
[[nodiscard]] Cut refined(const Cut& cut, int parts);
/// Returns the cut whose parts are each `parts` of the given one.
[[nodiscard]] Cut coarsened(const Cut& cut, int parts);

}  // namespace heatpp::detail

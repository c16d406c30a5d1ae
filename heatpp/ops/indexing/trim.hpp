#pragma once

#include <heatpp/core/dndarray.hpp>
#include <string_view>

namespace heatpp {

struct TrimOptions {
  std::string_view trim = "fb";            ///< "f": at the front, "b": at the back, or both
  std::optional<int> axis = std::nullopt;  ///< nullopt: along all axes
};
/// Removes the slices at the ends of `x` that are 0; the result is empty if all are 0. Shares memory; elements stay on
/// their ranks. One allreduce of two numbers for each axis of `x`. Throws ValueError for another `trim`.
[[nodiscard]] DNDarray trim_zeros(const DNDarray& x, const TrimOptions& options = {});

}  // namespace heatpp

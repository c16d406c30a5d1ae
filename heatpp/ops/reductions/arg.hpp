#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Options of argmax and argmin.
struct ArgOptions {
  std::optional<int> axis = std::nullopt;  ///< nullopt: over all elements, as a position in the flattened array
  bool keepdims = false;
};

/// Return the position (int64, counted over the whole array) of the first largest or smallest element along `axis`, or
/// of the first NaN; complex numbers are ordered by their real, then their imaginary parts. Reads the array once. Along
/// the split axis: one allreduce of pairs of value and position, 16 bytes for each result (complex 24), which every
/// rank holds; otherwise local, and the split stays. Throws IndexError for an axis out of range, ValueError for an
/// extremum of an empty array.
[[nodiscard]] DNDarray argmax(const DNDarray& x, const ArgOptions& options = {});
[[nodiscard]] DNDarray argmin(const DNDarray& x, const ArgOptions& options = {});
/// Do argmax and argmin over the elements that are not NaN. One allreduce more, of truth values. Throws ValueError if a
/// slice along `axis` has only NaN.
[[nodiscard]] DNDarray nanargmax(const DNDarray& x, const ArgOptions& options = {});
[[nodiscard]] DNDarray nanargmin(const DNDarray& x, const ArgOptions& options = {});

HEATPP_ALONG_AXIS(DNDarray, argmax, ArgOptions)
HEATPP_ALONG_AXIS(DNDarray, argmin, ArgOptions)
HEATPP_ALONG_AXIS(DNDarray, nanargmax, ArgOptions)
HEATPP_ALONG_AXIS(DNDarray, nanargmin, ArgOptions)

}  // namespace heatpp

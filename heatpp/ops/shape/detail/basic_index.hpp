#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/slice.hpp>

namespace heatpp::detail {

/// Returns `position` in 0 .. extent - 1. Throws IndexError naming `op` if it is out of range.
[[nodiscard]] std::int64_t sanitize_position(const char* op, const DNDarray& x, int axis, std::int64_t position);

/// Returns x at `position` of `axis`, which is removed. Along the split the owner broadcasts the slice.
[[nodiscard]] DNDarray take_position(const char* op, const DNDarray& x, int axis, std::int64_t position);

/// Returns x at the indices of `slice` along `axis`. Shares memory; only a negative step along the split moves data.
[[nodiscard]] DNDarray take_slice(const char* op, const DNDarray& x, int axis, const Slice& slice);
[[nodiscard]] DNDarray take_rising(const DNDarray& x, int axis, const ResolvedSlice& range);

/// Reverses x along `axis`. Along the split rank r gets the elements of rank P-1-r: one exchange.
[[nodiscard]] DNDarray reversed(const DNDarray& x, int axis);

/// Inserts an axis of extent 1 before `axis`. Shares memory.
[[nodiscard]] DNDarray insert_axis(const DNDarray& x, int axis);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/slice.hpp>

namespace heatpp::detail {

/// `position` in 0 .. extent - 1; throws IndexError naming `op` where there is none such.
[[nodiscard]] std::int64_t sanitize_position(const char* op, const DNDarray& x, int axis, std::int64_t position);

/// x at `position` of `axis`, which goes away. Along the split the owner broadcasts the slice.
[[nodiscard]] DNDarray take_position(const char* op, const DNDarray& x, int axis, std::int64_t position);

/// x at the indices of `slice` along `axis`. Shares memory and moves nothing, but for a negative step along the split.
[[nodiscard]] DNDarray take_slice(const char* op, const DNDarray& x, int axis, const Slice& slice);
[[nodiscard]] DNDarray take_rising(const DNDarray& x, int axis, const ResolvedSlice& range);

/// x back to front along `axis`. Along the split rank r gets what rank P-1-r had: one exchange.
[[nodiscard]] DNDarray reversed(const DNDarray& x, int axis);

/// x with a new axis of extent 1 before `axis`. Shares memory.
[[nodiscard]] DNDarray insert_axis(const DNDarray& x, int axis);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/shape.hpp>
#include <heatpp/core/slice.hpp>
#include <vector>

namespace heatpp::io::detail {

/// A box of a dataset: along each axis the indices start, start + step, ...
using Selection = std::vector<ResolvedSlice>;

/// Returns the box that `slices` select from `shape`; axes without a slice are taken whole. Throws ValueError naming
/// `op` for more slices than axes and for steps below 1.
[[nodiscard]] Selection select(const Shape& shape, const std::vector<Slice>& slices, const char* op);

/// Returns the extents of the box.
[[nodiscard]] Shape extents(const Selection& box);

/// Returns the part of the box with positions first ... first + count - 1 along `axis`.
[[nodiscard]] Selection narrow(Selection box, int axis, std::int64_t first, std::int64_t count);
/// Returns the part along all axes.
[[nodiscard]] Selection narrow(Selection box, const Shape& first, const Shape& count);

}  // namespace heatpp::io::detail

#pragma once

#include <heatpp/core/shape.hpp>
#include <heatpp/core/slice.hpp>
#include <vector>

namespace heatpp::io::detail {

/// A box of a dataset: for each axis the indices start, start + step, ... in it.
using Selection = std::vector<ResolvedSlice>;

/// The box that `slices` cut out of `shape`; axes without a slice are taken whole. Throws ValueError naming `op` for
/// more slices than axes and for steps below 1.
[[nodiscard]] Selection select(const Shape& shape, const std::vector<Slice>& slices, const char* op);

/// The extents of the box.
[[nodiscard]] Shape extents(const Selection& box);

/// The part of the box with positions first .. first + count along `axis`.
[[nodiscard]] Selection narrow(Selection box, int axis, std::int64_t first, std::int64_t count);
/// The same along all axes.
[[nodiscard]] Selection narrow(Selection box, const Shape& first, const Shape& count);

}  // namespace heatpp::io::detail

#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// `x` with its axes in another order; shares memory. Local.
[[nodiscard]] DNDarray permuted(const DNDarray& x, const std::vector<int>& order);
/// `x` with one axis taken out and put in at `to`. Local.
[[nodiscard]] DNDarray moved_axis(const DNDarray& x, int from, int to);
/// `x` without an axis of extent 1; if it is split there, every rank gets it.
[[nodiscard]] DNDarray without_axis(const char* op, const DNDarray& x, int axis);
/// The elements with equal indices along two axes, `offset` to the right, along a new last axis that takes their place.
/// Every element stays where it is. Local.
[[nodiscard]] DNDarray diagonal_of(const DNDarray& x, std::int64_t offset, int axis1, int axis2);
/// The complex conjugate; `x` itself if it is real. Local.
[[nodiscard]] DNDarray conjugated(const DNDarray& x);

}  // namespace heatpp::detail

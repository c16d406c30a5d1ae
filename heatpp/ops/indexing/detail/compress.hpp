#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// The elements of `block` where `mask`, of the extents of the block from `axis` on, is true: one new axis in the place
/// of the masked ones, in C order.
[[nodiscard]] at::Tensor compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask);
/// The positions where a mask is true, in C order: a row for each, with a column for each axis.
[[nodiscard]] at::Tensor places_of(const at::Tensor& mask);

}  // namespace heatpp::detail

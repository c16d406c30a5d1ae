#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// How many elements of a mask are true.
[[nodiscard]] std::int64_t count_true(const at::Tensor& mask);
/// The elements of `block` where `mask`, of the extents of the block from `axis` on, is true: one new axis in the place
/// of the masked ones, in C order.
[[nodiscard]] at::Tensor compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask);
/// Writes what `compressed` gives to where it was taken. The mask and the elements lie elsewhere than the block.
void write_compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask, const at::Tensor& elements);
/// Writes one value of the block's dtype there.
void fill_compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask, const at::Tensor& value);
/// The positions where a mask is true, in C order: a row for each, with a column for each axis.
[[nodiscard]] at::Tensor places_of(const at::Tensor& mask);

}  // namespace heatpp::detail

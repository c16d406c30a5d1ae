#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// Returns how many elements of a mask are true.
[[nodiscard]] std::int64_t count_true(const at::Tensor& mask);
/// Returns the elements of `block` where `mask`, over the axes from `axis` on, is true. A new axis replaces the masked
/// ones, in C order.
[[nodiscard]] at::Tensor compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask);
/// Writes the result of `compressed` back. The mask and the elements must not overlap with the block.
void write_compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask, const at::Tensor& elements);
/// Writes one value of the block's dtype to these places.
void fill_compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask, const at::Tensor& value);
/// Returns the positions where a mask is true, in C order: a row for each, a column for each axis.
[[nodiscard]] at::Tensor places_of(const at::Tensor& mask);

}  // namespace heatpp::detail

#pragma once

#include <ATen/core/Tensor.h>

#include <span>

namespace heatpp::detail {

/// Writes `rows` to the places of `held` that arrays of one shape index together, one for each of its first axes and
/// not negative. The order counts: the last of equal places stays. A single element is written to all.
void put_rows(const at::Tensor& held, std::span<const at::Tensor> places, const at::Tensor& rows);

}  // namespace heatpp::detail

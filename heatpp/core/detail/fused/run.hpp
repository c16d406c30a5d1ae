#pragma once

#include <heatpp/core/detail/fused/formula.hpp>

namespace heatpp::detail::fused {

/// Whether the elements of the block are those of the formula's shape in C order.
[[nodiscard]] bool has_all_elements(const at::Tensor& block, at::IntArrayRef shape);
/// Whether the block can be read for a formula of this shape: it has all elements in C order, or is broadcast.
[[nodiscard]] bool is_readable(const at::Tensor& block, at::IntArrayRef shape);

/// Computes the formula into `out`, which may be the memory of a block with all elements. In parallel, by runs that
/// stay in the first-level cache.
void run(const Formula& formula, void* out);

}  // namespace heatpp::detail::fused

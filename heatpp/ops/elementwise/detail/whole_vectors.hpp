#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail::local {

/// LibTorch computes whole vectors of the processor by other code than the elements that remain at the end of a run.
/// The results of some functions differ in the last bit then, so they would depend on how many elements a rank has and
/// on the number of threads. These functions return f of blocks, with the bits of a whole vector for every element.
/// `into` is LibTorch's function that writes the same result to its first argument. Blocks are in one floating or
/// complex dtype or converted to it, and broadcast. Whole numbers and arrays on GPUs are left to f.
[[nodiscard]] at::Tensor in_whole_vectors(const at::Tensor& x, at::Tensor (*f)(const at::Tensor&),
                                          at::Tensor& (*into)(at::Tensor&, const at::Tensor&));
[[nodiscard]] at::Tensor in_whole_vectors(const at::Tensor& a, const at::Tensor& b,
                                          at::Tensor (*f)(const at::Tensor&, const at::Tensor&),
                                          at::Tensor& (*into)(at::Tensor&, const at::Tensor&, const at::Tensor&));
/// Returns the angles of complex numbers, which are real, likewise.
[[nodiscard]] at::Tensor angle_in_whole_vectors(const at::Tensor& x);

}  // namespace heatpp::detail::local

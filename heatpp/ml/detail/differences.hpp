#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

enum class Difference { squares, sizes };

/// Writes the sums over all features of the squares, or sizes, of the differences of each row of `x` (m, features) and
/// each of `y` (n, features) to `result` (m, n), whose rows are contiguous: float32 or float64 all three, added up in
/// it. Two rows give the same number wherever they stand. Local, on several threads.
void differences(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result);

/// The squares by |x|^2 - 2 x.y + |y|^2, about the mean of `y`: a product, whose error is about eps (|x|^2 + |y|^2)
/// whatever the distance. Local.
void squares_by_product(const at::Tensor& x, const at::Tensor& y, const at::Tensor& result);

}  // namespace heatpp::ml::detail

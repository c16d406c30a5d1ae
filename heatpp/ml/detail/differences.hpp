#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

enum class Difference { squares, distances, sizes };

/// What is done to each part of a result while it is in the cache.
using Finish = std::function<void(const at::Tensor& part)>;

/// Rows that others are compared with: side by side, as many as fill a vector, feature by feature.
struct Columns {
  std::int64_t rows, features;
  at::Tensor values;  ///< (vectors, features, lanes), 0 where there are no more rows
  explicit Columns(const at::Tensor& y);
};

/// Writes the sums over all features of the squares (`distances`: their roots), or of the sizes, of the differences of
/// each row of `x` (m, features) and each of `y` (n, features) to `result` (m, n), whose rows are contiguous: float32
/// or float64 all three, added up in it. Two rows give the same number wherever they stand. Local, on several threads.
void differences(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                 const Finish& finish = {});

/// The same for rows of `y` that are side by side already.
void differences(Difference kind, const at::Tensor& x, const Columns& y, const at::Tensor& result);

/// From so many features on a product may take less time than differences, which need twice the instructions.
inline constexpr std::int64_t product_features = 128;
/// The squares or distances by |x|^2 - 2 x.y + |y|^2, about the mean of `y`: a product, whose error is about
/// eps (|x|^2 + |y|^2) whatever the distance. Local, on several threads.
void differences_by_product(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                            const Finish& finish = {});

}  // namespace heatpp::ml::detail

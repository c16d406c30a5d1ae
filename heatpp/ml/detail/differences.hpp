#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

enum class Difference { squares, distances, sizes };

/// A function applied to each part of a result while it is in the cache.
using Finish = std::function<void(const at::Tensor& part)>;

/// Rows to compare with, side by side: as many as fill a vector, feature by feature.
struct Columns {
  std::int64_t rows, features;
  at::Tensor values;  ///< (vectors, features, lanes), filled with 0
  explicit Columns(const at::Tensor& y);
};

/// Writes to `result` (m, n), with contiguous rows, the sums over features of the squared differences (`distances`:
/// their roots), or of the absolute ones, of each row of `x` (m, features) and each of `y` (n, features). All three are
/// float32 or all float64, as the sums. A pair of rows gives equal numbers at any position. Local, several threads.
void differences(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                 const Finish& finish = {});

/// Does differences for rows of `y` that are already side by side.
void differences(Difference kind, const at::Tensor& x, const Columns& y, const at::Tensor& result);

/// From this many features on, a product may be faster than differences, which need twice the instructions.
inline constexpr std::int64_t product_features = 128;
/// Computes squares or distances by |x|^2 - 2 x.y + |y|^2, about the mean of `y`: a product, with an error of about eps
/// (|x|^2 + |y|^2) for any distance. Local, on several threads.
void differences_by_product(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                            const Finish& finish = {});

}  // namespace heatpp::ml::detail

#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Weights of rows as whole numbers of units, whose sums are the same in any order.
struct WholeWeights {
  at::Tensor numbers;  ///< of this rank's rows, int64
  double unit = 1;
};
/// The weights rounded to 2^-50, or to as little as sums of whole numbers allow, of the largest. Collective:
/// all-reduces of 24 and 16 bytes, none where rows are replicated. Throws ValueError for weights that are negative, not
/// finite or all 0.
[[nodiscard]] WholeWeights whole_weights(const char* op, const Rows& rows, const DNDarray& weights);

}  // namespace heatpp::ml::detail

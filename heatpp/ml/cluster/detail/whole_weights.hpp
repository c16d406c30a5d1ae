#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Weights of rows as whole multiples of a unit; their sums do not depend on the order.
struct WholeWeights {
  at::Tensor numbers;  ///< one for each row of this rank, int64
  double unit = 1;
};
/// Rounds weights to 2^-50 of the largest, or coarser if sums of int64 require it. Collective: all-reduces of 24
/// and 16 bytes, none if rows are replicated. Throws ValueError for weights that are negative, not finite or all
/// 0.
[[nodiscard]] WholeWeights whole_weights(const char* op, const Rows& rows, const DNDarray& weights);

}  // namespace heatpp::ml::detail

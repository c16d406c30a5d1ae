#pragma once

#include <heatpp/ops/reductions/detail/cached/pieces.hpp>

namespace heatpp::detail {

/// How LibTorch or this library reduces a block.
using LocalReduction = at::Tensor (*)(const at::Tensor& block, at::IntArrayRef axes, bool keepdims,
                                      std::optional<at::ScalarType> type);

/// A reduction of this rank's block.
struct BlockReduction {
  LocalReduction local;
  ReduceOp joined;     ///< how results of pieces are joined
  bool is_extremum;    ///< largest or least, and not all or any
  at::Scalar neutral;  ///< the result of no elements
};

/// Reduces the block of `x` in pieces that stay in the cache: sums and extremes of floating numbers, also in memory,
/// and sums of whole numbers, extremes, any and all of formulas. Returns nullopt for others.
[[nodiscard]] std::optional<at::Tensor> reduced_in_pieces(const DNDarray& x, const ReducedAxes& reduced,
                                                          const BlockReduction& reduction);

}  // namespace heatpp::detail

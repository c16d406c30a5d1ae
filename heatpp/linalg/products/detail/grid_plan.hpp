#pragma once

#include <heatpp/core/layout.hpp>

#include <functional>

namespace heatpp::detail {

/// The layout of an operand whose axes have labels.
struct LabelledLayout {
  Layout layout;
  std::vector<int> labels;  ///< one for each axis, all different

  [[nodiscard]] bool has(int label) const;
  [[nodiscard]] int axis(int label) const;
  [[nodiscard]] std::int64_t extent(int label) const;
};

/// A dimension of the grid of ranks of a product. A rank computes with the indices of one part of the label.
struct RankDimension {
  /// What the label is: an axis of both operands and the result, of the first operand and the result, of both operands,
  /// or of the second operand and the result.
  enum class Kind { batch, rows, depth, columns };
  Kind kind;
  int label;
  Cut cut;
  std::function<int(int rank)> part;
};

/// How a product of two arrays is computed on a grid of ranks. The ranks have a coordinate along each dimension. Each
/// computes a part of the sums for a block of the result, of indices of `panel` in its part along the depth. It needs a
/// block of each operand for that, of which it holds a part along `panel` before: ranks that differ along the columns
/// need one block of the first operand, those that differ along the rows one of the second. Ranks that differ along the
/// depth add up their blocks of the result, each a part of it (`scattered`), or all of it on every rank if it has no
/// axes.
struct GridPlan {
  bool swapped = false;  ///< whether the first array is the second operand
  std::vector<RankDimension> dimensions;
  int panel = 0;                 ///< a label that is summed over
  Cut inner_a, inner_b;          ///< where `panel` is cut: each part along the depth is cut by columns, or by rows
  std::optional<int> scattered;  ///< a label of the result
  Layout a, b;                   ///< required layouts; a replicated operand stays so
  Layout result;
  double moved = 0, sent = 0;  ///< elements that ranks get in all, at most: before, and for the product

  /// Returns the product of the ranks along all dimensions of this kind.
  [[nodiscard]] int ranks_along(RankDimension::Kind kind) const;
  /// Returns which of these `rank` is, in C order of the dimensions.
  [[nodiscard]] int place_along(RankDimension::Kind kind, int rank) const;
  [[nodiscard]] const RankDimension* dimension_of(int label) const;
};

/// Returns the plan for the product of `a` and `b`, one of which is cut, that sends the fewest elements. Candidates
/// keep one operand as it is cut, or take an even grid of any shape over the longest labels of each kind (after
/// Kwasniewski et al., Red-blue pebbling revisited, SC 2019: the block of indices of a rank becomes nearly a cube). The
/// depth is more than one only if a rank's sums then take no more than four times its share of both operands and the
/// result. Of equal plans it takes the earlier in this order: fewest operands that move; keep `a`; keep `b`. Under the
/// strict policy a plan that moves no operand precedes all others. Both have a label in common that `out` lacks.
[[nodiscard]] GridPlan make_grid_plan(const LabelledLayout& a, const LabelledLayout& b, const std::vector<int>& out);

}  // namespace heatpp::detail

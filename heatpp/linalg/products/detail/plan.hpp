#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// An array whose axes have names, as the letters of an einsum expression.
struct Labelled {
  DNDarray array;
  std::vector<int> labels;  ///< one for each axis, all different

  [[nodiscard]] int axis(int label) const;  ///< -1 if there is none
  [[nodiscard]] bool has(int label) const { return axis(label) >= 0; }
  [[nodiscard]] std::int64_t extent(int label) const;
  [[nodiscard]] std::optional<int> split_label() const;
};

/// How a product of two arrays is computed. The first array stays in place, or is brought to `a`; then
///   local:  every rank multiplies its blocks;
///   rotate: the blocks of the second array go round, and each rank builds its block of the result from all of them;
///   reduce: both are cut along an axis that is summed over, and the ranks' parts of the result are added: each block
///           on its way to the rank that keeps it, or all of it on every rank if the result is not split.
struct Plan {
  enum class Way { local, rotate, reduce };
  Way way;
  bool swapped;  ///< whether the first array is the second operand
  Layout a, b;   ///< required layouts of the first and the second array
  Layout result;
};

/// Returns the plan for the product of `a` and `b` with axes `out` that moves the fewest bytes. Of equal plans it takes
/// the earlier one in this order: fewest operands that move; cut along an axis of both, of `a`, of `b`. An axis shorter
/// than the number of ranks is cut only if it was before, or if there is no other. With `along_a` the result is never
/// cut along an axis of `b` alone. Under the strict policy a plan that moves no operand precedes all others.
[[nodiscard]] Plan make_plan(const Labelled& a, const Labelled& b, const std::vector<int>& out, bool along_a);

}  // namespace heatpp::detail

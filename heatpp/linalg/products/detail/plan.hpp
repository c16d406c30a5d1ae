#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// An array whose axes have names, as the letters of an einsum expression.
struct Labelled {
  DNDarray array;
  std::vector<int> labels;  ///< one for each axis, all different

  [[nodiscard]] int axis(int label) const;  ///< -1 where there is none
  [[nodiscard]] bool has(int label) const { return axis(label) >= 0; }
  [[nodiscard]] std::int64_t extent(int label) const;
  [[nodiscard]] std::optional<int> split_label() const;
};

/// How a product of two arrays is computed. The first array stays where it is, or is brought to `a`; then
///   local:  every rank multiplies the blocks it has;
///   rotate: the blocks of the second go round, and each rank builds its block of the result from all of them;
///   reduce: both are cut along an axis that is summed over, and the ranks' parts of the result are added up, each
///           block of it on its way to the rank that keeps it, or all of it on every rank if the result is not split.
struct Plan {
  enum class Way { local, rotate, reduce };
  Way way;
  bool swapped;  ///< whether the first array is the second operand
  Layout a, b;   ///< where the first and the second array must lie
  Layout result;
};

/// The plan for the product of `a` and `b` with axes `out` that moves the fewest bytes; the earlier one of equals, in
/// the order: fewest operands that move; cut along an axis of both, of `a`, of `b`. An axis shorter than the number of
/// ranks is not cut if it was not before and there is another choice. With `along_a` the result is never cut along an
/// axis of `b` alone. Under the strict policy one that moves no operand goes before all others.
[[nodiscard]] Plan make_plan(const Labelled& a, const Labelled& b, const std::vector<int>& out, bool along_a);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/linalg/products/detail/plan.hpp>

namespace heatpp::detail {

struct ContractOptions {
  bool along_a = false;  ///< never cut the result along an axis of `b` alone
};

/// Makes the array with axes `out` whose elements are the sums, over all labels that are not in `out`, of the products
/// of elements of `a` and `b` with equal labels. A label is in `out` or in both operands, with the same extent.
/// Communicates as `make_plan` says. An operand that has to move first counts as redistributed. Messages travel while
/// blocks are multiplied. Extra memory: two blocks of the array that travels, or three of the result. Booleans give
/// "any", 16-bit floats are accumulated in float32.
[[nodiscard]] DNDarray contract(const char* op, const Labelled& a, const Labelled& b, const std::vector<int>& out,
                                const ContractOptions& options = {});

}  // namespace heatpp::detail

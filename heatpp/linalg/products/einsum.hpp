#pragma once

#include <concepts>
#include <heatpp/core/dndarray.hpp>
#include <string_view>

namespace heatpp {

/// Computes the sum of products that `subscripts` describes, by NumPy's rules: "ij,jk->ik" with one letter for each
/// axis of each operand, "..." for axes that broadcast, a letter twice in one operand for its diagonal. Without "->"
/// the result has the letters that occur once, in alphabetical order after the "...". Extents of 1 broadcast to those
/// of other operands. The dtype is that of promote_types. Operands may have any layout; three and more are multiplied
/// in pairs, the pair with the smallest product first. Each product communicates as
/// `<heatpp/linalg/products/product.hpp>` says. A letter that only one operand has is summed first, which along the
/// split axis is one allreduce. Collective. Throws ValueError for malformed subscripts or ones that do not fit.
[[nodiscard]] DNDarray einsum(std::string_view subscripts, const std::vector<DNDarray>& operands);
template <std::convertible_to<DNDarray>... Arrays>
[[nodiscard]] DNDarray einsum(std::string_view subscripts, const DNDarray& first, const Arrays&... others) {
  return einsum(subscripts, std::vector<DNDarray>{first, others...});
}

}  // namespace heatpp

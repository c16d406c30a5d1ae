#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// A matrix w = a v / scale with orthogonal columns, in the order of their lengths, and the rotation v; both cut evenly
/// by columns. The scale, a power of 2, prevents over- and underflow of squares that matter.
struct Orthogonalised {
  DNDarray w, v;
  double scale;
};
/// Rotates the columns of `a` until they are orthogonal to the precision of its floating dtype. On each rank two blocks
/// of columns meet at a time, as in a tournament; a round sends two blocks of w and v. Collective. Throws ValueError
/// for elements that are not finite, Error if forty tournaments are not enough.
enum class Lengths { rising, falling };
[[nodiscard]] Orthogonalised orthogonalise_columns(const char* op, const DNDarray& a, Lengths order);

}  // namespace heatpp::detail

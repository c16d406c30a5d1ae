#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Whether a matrix has at least as many rows for each rank as columns.
[[nodiscard]] bool is_tall(const DNDarray& x);

/// This rank's rows of Q, and R, equal on every rank.
struct Tall {
  at::Tensor q, r;
};
/// Decomposes a tall floating-point matrix that is cut by rows (see linalg::qr); NaN if elements are not finite.
/// Collective.
[[nodiscard]] Tall tall_qr(const DNDarray& x);

}  // namespace heatpp::detail

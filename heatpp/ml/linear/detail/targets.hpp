#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// The targets of this rank's rows.
struct Targets {
  at::Tensor values;  ///< (rows, targets), float64
  bool single;        ///< given as (samples,)
};
/// Returns this rank's targets: `y` has shape (samples,) or (samples, targets) and any layout. Collective if it is cut
/// otherwise than the rows. Throws ValueError for another shape.
[[nodiscard]] Targets targets_beside(const char* op, const Rows& rows, const DNDarray& y);

}  // namespace heatpp::ml::detail

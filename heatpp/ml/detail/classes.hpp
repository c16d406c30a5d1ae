#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// The label of each row of this rank, int64: `y` has shape (samples,), any layout, and whole numbers or truth values.
/// Collective where it is cut otherwise than the rows. Throws ValueError for another shape, TypeError for other
/// numbers.
[[nodiscard]] at::Tensor labels_beside(const char* op, const Rows& rows, const DNDarray& y);

/// Labels by their place among all different ones, in rising order.
struct LabelledClasses {
  at::Tensor values;                ///< (classes,), int64, on every rank
  std::vector<std::int32_t> index;  ///< of each row of this rank
  [[nodiscard]] std::int64_t count() const { return values.size(0); }
};
/// Collective: what `unique` and the above communicate.
[[nodiscard]] LabelledClasses classes_beside(const char* op, const Rows& rows, const DNDarray& y);
/// All classes of both, in rising order, and where those of each are among them.
struct UnitedClasses {
  at::Tensor values, first, second;
};
[[nodiscard]] UnitedClasses united(const at::Tensor& first, const at::Tensor& second);

}  // namespace heatpp::ml::detail

#pragma once

#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// The label of each row of this rank, int64: `y` has shape (samples,), any layout, and whole numbers, which may have a
/// floating dtype, or truth values. Collective where it is cut otherwise than the rows, and for floating dtypes, where
/// all agree by 16 bytes that there are no fractions. Throws ValueError for another shape, TypeError for other numbers.
[[nodiscard]] at::Tensor labels_beside(const char* op, const Rows& rows, const DNDarray& y);

/// All labels that occur in `mine` on any rank, in rising order. Collective: one all-reduce of 16 bytes and, for labels
/// of which the largest and the least differ by less than 65536, one of a byte for each number between them; others as
/// `unique`. Nothing where rows are replicated.
[[nodiscard]] std::vector<std::int64_t> distinct_labels(const Rows& rows, const at::Tensor& mine);

/// Where each of `mine` is among the sorted `labels`, which have it. Local.
[[nodiscard]] std::vector<std::int32_t> positions_among(std::span<const std::int64_t> labels, const at::Tensor& mine);

/// Labels by their place among all different ones, in rising order.
struct LabelledClasses {
  at::Tensor values;                ///< (classes,), int64, on every rank
  std::vector<std::int32_t> index;  ///< of each row of this rank
  [[nodiscard]] std::int64_t count() const { return values.size(0); }
};
/// Collective: what `unique` and the above communicate.
[[nodiscard]] LabelledClasses classes_beside(const char* op, const Rows& rows, const DNDarray& y);
/// The weights of this rank's rows times those of their classes; nullopt: all 1. Rows are counted for balance, or
/// weighed. Collective for balance: one all-reduce of 8 (classes + 1) bytes, none where rows are replicated. Throws
/// ValueError for weights that are negative, not finite or all 0, and where none of the labels named or not all classes
/// are there.
enum class Balance { of_rows, of_weights };
[[nodiscard]] std::optional<at::Tensor> class_weighted(const char* op, const Rows& rows, const LabelledClasses& classes,
                                                       const std::optional<at::Tensor>& weights,
                                                       const ClassWeights& of_class,
                                                       Balance balance = Balance::of_rows);
/// As a model's state has them, and back.
[[nodiscard]] std::string text_of(const ClassWeights& weights);
[[nodiscard]] ClassWeights class_weights_from(const char* op, const std::string& text);

/// All classes of both, in rising order, and where those of each are among them.
struct UnitedClasses {
  at::Tensor values, first, second;
};
[[nodiscard]] UnitedClasses united(const at::Tensor& first, const at::Tensor& second);

}  // namespace heatpp::ml::detail

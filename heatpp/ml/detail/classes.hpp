#pragma once

#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Returns the label of each row of this rank, int64. `y` has shape (samples,), any layout, and holds bool or whole
/// numbers, which may have a floating dtype. Collective if it is cut otherwise than the rows, and for floating dtypes,
/// to agree by 16 bytes that there are no fractions. Throws ValueError for another shape, TypeError for other numbers.
[[nodiscard]] at::Tensor labels_beside(const char* op, const Rows& rows, const DNDarray& y);

/// Returns all labels that occur in `mine` on any rank, in increasing order. Collective: one all-reduce of 16 bytes
/// and, if the largest and the least label differ by less than 65536, one of a byte for each number between them; else
/// as `unique`. None if rows are replicated.
[[nodiscard]] std::vector<std::int64_t> distinct_labels(const Rows& rows, const at::Tensor& mine);

/// Returns the positions of the numbers in `mine` among the sorted `labels`, which contain them. Local.
[[nodiscard]] std::vector<std::int32_t> positions_among(std::span<const std::int64_t> labels, const at::Tensor& mine);

/// The distinct labels in increasing order, and the position of each row's label among them.
struct LabelledClasses {
  at::Tensor values;                ///< (classes,), int64, on every rank
  std::vector<std::int32_t> index;  ///< for each row of this rank
  [[nodiscard]] std::int64_t count() const { return values.size(0); }
};
/// Finds the classes of `y`. Collective: what `unique` and the above communicate.
[[nodiscard]] LabelledClasses classes_beside(const char* op, const Rows& rows, const DNDarray& y);
/// Returns the weights of this rank's rows times those of their classes; nullopt: all 1. For balance the share of a
/// class is counted by rows or by weights. Collective for balance: one all-reduce of 8 (classes + 1) bytes, none if
/// rows are replicated. Throws ValueError for class weights that are negative, not finite or all 0, and for named
/// labels that do not occur unless all classes are named.
enum class Balance { of_rows, of_weights };
[[nodiscard]] std::optional<at::Tensor> class_weighted(const char* op, const Rows& rows, const LabelledClasses& classes,
                                                       const std::optional<at::Tensor>& weights,
                                                       const ClassWeights& of_class,
                                                       Balance balance = Balance::of_rows);
/// Throws ValueError for class weights of an estimator for numbers, which has no classes. Local.
void check_no_class_weights(const char* op, const ClassWeights& of_class);
/// Convert weights to the text in a model's state, and back.
[[nodiscard]] std::string text_of(const ClassWeights& weights);
[[nodiscard]] ClassWeights class_weights_from(const char* op, const std::string& text);

/// The classes of two sets, in increasing order, and the positions of those of each among them.
struct UnitedClasses {
  at::Tensor values, first, second;
};
[[nodiscard]] UnitedClasses united(const at::Tensor& first, const at::Tensor& second);

}  // namespace heatpp::ml::detail

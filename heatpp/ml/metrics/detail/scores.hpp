#pragma once

#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>

namespace heatpp::ml::detail {

/// Returns rows (n, columns); a vector has one column. Local.
[[nodiscard]] Rows as_matrix(const DNDarray& x);

/// Scores of rows whose labels are known: a vector, or (n, columns).
struct LabelledScores {
  /// Finds labels. Collective: as distinct_labels, an all-reduce of 8 bytes, and with weights one of 24. Throws
  /// ValueError for shapes that do not fit, no rows, and scores that are not finite, TypeError for labels that are
  /// fractions.
  LabelledScores(const char* op, const DNDarray& y_true, const DNDarray& y_score,
                 const std::optional<DNDarray>& sample_weight);
  /// Returns which of this rank's rows have a label.
  [[nodiscard]] at::Tensor has(std::int64_t label) const { return truth == label; }
  /// Returns the weight of all rows of each label. Collective: one all-reduce.
  [[nodiscard]] std::vector<double> sizes() const;

  Rows rows;
  at::Tensor truth, scores;  ///< of this rank's rows: int64 (count,), float64 (count, columns)
  std::optional<at::Tensor> weights;
  std::vector<std::int64_t> labels;
};

/// Returns the elements, cut as the rows, for which `mask` is true. Collective: all ranks learn the new cut.
[[nodiscard]] DNDarray chosen(const Rows& rows, const at::Tensor& x, const at::Tensor& mask);

/// Returns the mean of numbers, weighted if asked. Throws ValueError for another average. Local.
[[nodiscard]] double mean_of(const char* op, ScoreAverage average, std::span<const double> numbers,
                             std::span<const double> weights);

}  // namespace heatpp::ml::detail

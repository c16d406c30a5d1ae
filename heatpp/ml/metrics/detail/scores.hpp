#pragma once

#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>

namespace heatpp::ml::detail {

/// (n, columns), of a vector one column. Local.
[[nodiscard]] Rows as_matrix(const DNDarray& x);

/// Scores of rows whose labels are known: a vector, or (n, columns).
struct LabelledScores {
  /// Collective: finds labels as distinct_labels, an all-reduce of 8 bytes, and one of 24 with weights. Throws
  /// ValueError for shapes that do not fit, no rows, and scores that are not finite, TypeError for labels that are
  /// fractions.
  LabelledScores(const char* op, const DNDarray& y_true, const DNDarray& y_score,
                 const std::optional<DNDarray>& sample_weight);
  /// This rank's rows of a label.
  [[nodiscard]] at::Tensor has(std::int64_t label) const { return truth == label; }
  /// The weight of all rows of each label. Collective: one all-reduce.
  [[nodiscard]] std::vector<double> sizes() const;

  Rows rows;
  at::Tensor truth, scores;  ///< of this rank's rows: int64 (count,), float64 (count, columns)
  std::optional<at::Tensor> weights;
  std::vector<std::int64_t> labels;
};

/// A vector cut as the rows, of those where `mask` is true: a new cut, of which every rank hears.
[[nodiscard]] DNDarray chosen(const Rows& rows, const at::Tensor& x, const at::Tensor& mask);

/// The mean of numbers, or that with the weights. Throws ValueError for another average. Local.
[[nodiscard]] double mean_of(const char* op, ScoreAverage average, std::span<const double> numbers,
                             std::span<const double> weights);

}  // namespace heatpp::ml::detail

#pragma once

#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>

namespace heatpp::ml::detail {

/// The weight of rows of every label: predicted correctly, true, and predicted.
class Found {
 public:
  /// Collective: one all-reduce of 8 (3 C + 1) bytes.
  explicit Found(const LabelPairs& pairs);
  /// Returns the numbers of these labels, in their order, 0 for labels without rows; of all if none are given. Local.
  [[nodiscard]] Found of(const std::vector<std::int64_t>& labels) const;
  [[nodiscard]] std::span<const std::int64_t> labels() const { return labels_; }
  [[nodiscard]] std::span<const double> right() const { return part(0); }
  [[nodiscard]] std::span<const double> truth() const { return part(1); }
  [[nodiscard]] std::span<const double> predicted() const { return part(2); }

 private:
  [[nodiscard]] std::span<const double> part(std::size_t i) const {
    return std::span(numbers_).subspan(i * labels_.size(), labels_.size());
  }
  std::vector<std::int64_t> labels_;
  std::vector<double> numbers_;
};

/// The score right / of, where `of` is predicted, true, the mean of both, or the union of both.
enum class Score { precision, recall, f1, jaccard };

/// Returns the score of each label; `zero_division` for 0 / 0.
[[nodiscard]] std::vector<double> scores_of(Score score, const Found& found, double zero_division);
/// Returns an average of the scores over labels, except binary, as scikit-learn does: without those that are NaN.
[[nodiscard]] double average_of(Score score, const Found& found, ScoreAverage average, double zero_division);

}  // namespace heatpp::ml::detail

#pragma once

#include <heatpp/ml/metrics/classification.hpp>

// Quality of scores that rank rows of one label before others, by the rules of scikit-learn. Labels are as for
// classification.hpp, and brought to the cut of the scores, or the inverse if only the labels are split. Scores are
// finite. Results are equal on every rank. All are collective, and throw ValueError for shapes that differ, no rows and
// scores that are not finite, TypeError for labels that are fractions, and ValueError for weights as estimators do.
// Weights cost one more all-reduce of 24 bytes.
namespace heatpp {

/// The comparison of more than two labels: an error, each with all others, or each with each.
enum class MultiClass { raise, ovr, ovo };

struct RocAucOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
  MultiClass multi_class = MultiClass::raise;
  ScoreAverage average = ScoreAverage::macro;  ///< for several columns: macro, or weighted by the rows of the labels
  std::vector<std::int64_t> labels = {};       ///< of the columns, increasing; none: those in y_true
};
/// Returns the area under the receiver operating characteristic: the probability that a row of one label has a higher
/// score than one of another; ties count half. Scores are a vector for the larger of two labels, or (n, C), a column
/// for each label in increasing order, with `multi_class`: ovr is the mean over labels of the area against all others,
/// ovo the mean over pairs of labels, in both directions, of the area among the rows of the pair (Hand, Till 2001).
/// Each area: one sort of the scores of one side, and two searches in them. Throws ValueError for a vector without
/// exactly two labels, other columns than labels, and a label without rows.
[[nodiscard]] double roc_auc_score(const DNDarray& y_true, const DNDarray& y_score, const RocAucOptions& options = {});

struct RocAucsOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, increasing; none: those in y_true
};
/// Returns the areas of which roc_auc_score with ovr is the mean: of each label, in increasing order, against all
/// others, float64 of shape (C,). Scores are (n, C). Costs and errors as roc_auc_score.
[[nodiscard]] DNDarray roc_auc_scores(const DNDarray& y_true, const DNDarray& y_score,
                                      const RocAucsOptions& options = {});

struct RocCurveOptions {
  std::optional<std::int64_t> pos_label = std::nullopt;  ///< the positive label; nullopt: the larger of two labels
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
  bool drop_intermediate = true;                         ///< leave out points on a line between their neighbors
};
/// float64 vectors of one length, with decreasing thresholds from infinity on; split 0 if rows are, else on every rank.
struct RocCurve {
  DNDarray fpr;         ///< the share of the other rows with a score of at least the threshold
  DNDarray tpr;         ///< the share of the rows of pos_label with such a score
  DNDarray thresholds;  ///< infinity, and the distinct scores
};
/// Returns the receiver operating characteristic: a point for each distinct score. One argsort, and what indexing,
/// `cumsum` and `concatenate` of such vectors communicate. Throws ValueError without pos_label unless there are two
/// labels, and if all rows or none have it.
[[nodiscard]] RocCurve roc_curve(const DNDarray& y_true, const DNDarray& y_score, const RocCurveOptions& options = {});

struct PrecisionRecallOptions {
  std::optional<std::int64_t> pos_label = std::nullopt;  ///< the positive label; nullopt: the larger of two labels
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
  bool drop_intermediate = false;                        ///< leave out points between others of the same recall
};
/// float64 vectors, with increasing thresholds; split 0 if rows are, else on every rank.
struct PrecisionRecallCurve {
  DNDarray precision;   ///< (thresholds + 1,): the share of pos_label in rows with such a score or more; last 1
  DNDarray recall;      ///< (thresholds + 1,): the share of the rows of pos_label with such a score or more; last 0
  DNDarray thresholds;  ///< the distinct scores
};
/// Returns precision and recall for each distinct score. Costs and errors as roc_curve.
[[nodiscard]] PrecisionRecallCurve precision_recall_curve(const DNDarray& y_true, const DNDarray& y_score,
                                                          const PrecisionRecallOptions& options = {});

struct AveragePrecisionOptions {
  std::optional<std::int64_t> pos_label = std::nullopt;  ///< of a vector; nullopt: the larger of two labels
  ScoreAverage average = ScoreAverage::macro;  ///< for several columns: macro, or weighted by the rows of the labels
  std::optional<DNDarray> sample_weight = std::nullopt;
};
/// Returns the mean of the precisions at all thresholds, each weighted by its increase of the recall. Scores are a
/// vector, or (n, C), a column for each label in increasing order, each compared with all others. Costs and errors as
/// roc_curve, for each column.
[[nodiscard]] double average_precision_score(const DNDarray& y_true, const DNDarray& y_score,
                                             const AveragePrecisionOptions& options = {});
/// Returns the score of each column, float64 of shape (C,), of which average_precision_score is the mean.
[[nodiscard]] DNDarray average_precision_scores(const DNDarray& y_true, const DNDarray& y_score,
                                                const MetricOptions& options = {});

}  // namespace heatpp

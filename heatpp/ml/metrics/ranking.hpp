#pragma once

#include <heatpp/ml/metrics/classification.hpp>

// How well scores put rows of one label before those of others, by scikit-learn's rules. Labels are as for
// classification.hpp, and brought to the cut of the scores, or these to theirs if only the labels are split. Scores are
// finite. Numbers are the same on every rank. All are collective, and throw ValueError for shapes that differ, no rows
// and scores that are not finite, TypeError for labels that are fractions, and ValueError for weights as estimators do.
// Weights cost one all-reduce of 24 bytes more.
namespace heatpp {

/// What more than two labels are compared by: not at all, each with all others, or each with each.
enum class MultiClass { raise, ovr, ovo };

struct RocAucOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
  MultiClass multi_class = MultiClass::raise;
  ScoreAverage average = ScoreAverage::macro;  ///< of several columns: macro, or weighted by the rows of the labels
  std::vector<std::int64_t> labels = {};       ///< of the columns, rising; none: those in y_true
};
/// The probability that a row of one label has a higher score than one of another, equal scores counting half: the area
/// under the receiver operating characteristic. Scores are a vector, of the larger of two labels, or (n, C), a column
/// for each label in rising order, with `multi_class`: ovr is the mean over labels of the area of each against all
/// others, ovo that over pairs of labels, in both directions, of the area among the rows of the pair (Hand, Till 2001).
/// For each area one sort of the scores of one side, and two searches in them. Throws ValueError for a vector and
/// other than two labels, other columns than labels, and a label without rows.
[[nodiscard]] double roc_auc_score(const DNDarray& y_true, const DNDarray& y_score, const RocAucOptions& options = {});

struct RocCurveOptions {
  std::optional<std::int64_t> pos_label = std::nullopt;  ///< what is to be found; nullopt: the larger of two labels
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
  bool drop_intermediate = true;                         ///< leave out points on a line between their neighbours
};
/// float64 vectors of one length, the thresholds falling from infinity; split 0 where the rows are, else on every rank.
struct RocCurve {
  DNDarray fpr;         ///< the share of the other rows with a score of at least the threshold
  DNDarray tpr;         ///< the share of the rows of pos_label
  DNDarray thresholds;  ///< infinity, and the scores that occur
};
/// The receiver operating characteristic: a point for each score that occurs. One argsort, and what indexing, `cumsum`
/// and `concatenate` of such vectors communicate. Throws ValueError without pos_label for other than two labels, and
/// where all rows or none have it.
[[nodiscard]] RocCurve roc_curve(const DNDarray& y_true, const DNDarray& y_score, const RocCurveOptions& options = {});

struct PrecisionRecallOptions {
  std::optional<std::int64_t> pos_label = std::nullopt;  ///< what is to be found; nullopt: the larger of two labels
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
  bool drop_intermediate = false;                        ///< leave out points between others of the same recall
};
/// float64 vectors, the thresholds rising; split 0 where the rows are, else on every rank.
struct PrecisionRecallCurve {
  DNDarray precision;  ///< (thresholds + 1,): of rows with a score of at least the threshold, the share of pos_label; 1
  DNDarray recall;     ///< (thresholds + 1,): the share of the rows of pos_label that have such a score; 0
  DNDarray thresholds;  ///< the scores that occur
};
/// Precision and recall for each score that occurs. Costs and errors as roc_curve.
[[nodiscard]] PrecisionRecallCurve precision_recall_curve(const DNDarray& y_true, const DNDarray& y_score,
                                                          const PrecisionRecallOptions& options = {});

struct AveragePrecisionOptions {
  std::optional<std::int64_t> pos_label = std::nullopt;  ///< of a vector; nullopt: the larger of two labels
  ScoreAverage average = ScoreAverage::macro;  ///< of several columns: macro, or weighted by the rows of the labels
  std::optional<DNDarray> sample_weight = std::nullopt;
};
/// The mean of the precisions at all thresholds, each weighted by what it adds to the recall. Scores are a vector, or
/// (n, C), a column for each label in rising order, of which each is compared with all others. Costs and errors as
/// roc_curve, for each column.
[[nodiscard]] double average_precision_score(const DNDarray& y_true, const DNDarray& y_score,
                                             const AveragePrecisionOptions& options = {});

}  // namespace heatpp

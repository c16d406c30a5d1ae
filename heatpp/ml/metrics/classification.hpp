#pragma once

#include <heatpp/core/dndarray.hpp>

// How well labels were predicted, by scikit-learn's rules. Labels are vectors of whole numbers or bool, of any layout:
// the predicted ones are brought to the cut of the true ones, or these to theirs if only the predicted ones are split.
// Results are the same on every rank. All are collective, and throw ValueError for shapes that differ and no rows,
// TypeError for labels that are fractions, and ValueError for weights as estimators do. Weights cost one all-reduce of
// 24 bytes more.
namespace heatpp {

struct MetricOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
};

/// The share of rows whose labels agree. One all-reduce of 24 bytes.
[[nodiscard]] double accuracy_score(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options = {});
/// The mean over the true labels of the share of their rows that was found. Communicates as
/// precision_recall_fscore_support.
[[nodiscard]] double balanced_accuracy_score(const DNDarray& y_true, const DNDarray& y_pred,
                                             const MetricOptions& options = {});

struct ConfusionMatrix {
  DNDarray matrix;  ///< (C, C): rows of true label i that were predicted as j; int64, or float64 of weights
  DNDarray labels;  ///< (C,): all of either, in rising order
};
/// How often each label was predicted as each. One all-reduce of 16 bytes, one of a byte for each number from the least
/// to the largest label (more than 65536 apart: as `unique`) and one of 8 (C^2 + 1).
[[nodiscard]] ConfusionMatrix confusion_matrix(const DNDarray& y_true, const DNDarray& y_pred,
                                               const MetricOptions& options = {});

/// What precision, recall and f1 are where nothing was predicted or nothing was true.
struct PerClassOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  double zero_division = 0;
};
/// For every label of either, in rising order: float64 of shape (C,).
struct PerClass {
  DNDarray labels;     ///< int64
  DNDarray precision;  ///< the share of what was predicted that is true
  DNDarray recall;     ///< the share of what is true that was predicted
  DNDarray f1;         ///< their harmonic mean
  DNDarray support;    ///< the weight of rows that have it
};
/// As confusion_matrix, but that the last all-reduce has 8 (3 C + 1) bytes.
[[nodiscard]] PerClass precision_recall_fscore_support(const DNDarray& y_true, const DNDarray& y_pred,
                                                       const PerClassOptions& options = {});

/// How scores of labels become one.
enum class ScoreAverage {
  binary,    ///< that of pos_label, of two labels at most
  micro,     ///< of all rows together
  macro,     ///< the mean over labels
  weighted,  ///< the mean over labels by their true rows
};
struct FScoreOptions {
  ScoreAverage average = ScoreAverage::binary;
  std::int64_t pos_label = 1;  ///< for ScoreAverage::binary
  std::optional<DNDarray> sample_weight = std::nullopt;
  double zero_division = 0;  ///< the score of a label where it is 0 / 0
};
/// See PerClass. They communicate as precision_recall_fscore_support. Throw ValueError for more than two labels, or two
/// others, with ScoreAverage::binary.
[[nodiscard]] double precision_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});
[[nodiscard]] double recall_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});
[[nodiscard]] double f1_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});

struct LogLossOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, rising; none: those in y_true
};
/// Minus the mean logarithm of the probability of the true label, of which none counts as less than the rounding of its
/// dtype: (n, C) probabilities of the sorted labels, or (n,) of the larger of two. One all-reduce of 24 bytes, and
/// where labels are not given those of confusion_matrix. Throws ValueError for another number of columns, labels that
/// have none, and probabilities outside of 0 .. 1.
[[nodiscard]] double log_loss(const DNDarray& y_true, const DNDarray& y_prob, const LogLossOptions& options = {});

/// The probability that a row of the larger of two labels has a higher score than one of the other, equal scores
/// counting half: the area under the receiver operating characteristic. One sort of the scores of the smaller label,
/// and two searches in them. Throws ValueError for other than two labels and scores that are not finite.
[[nodiscard]] double roc_auc_score(const DNDarray& y_true, const DNDarray& y_score, const MetricOptions& options = {});

}  // namespace heatpp

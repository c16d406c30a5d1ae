#pragma once

#include <heatpp/core/dndarray.hpp>

// How well labels were predicted, by scikit-learn's rules. Labels are vectors of whole numbers or bool, or of floating
// numbers that are whole (one all-reduce of 16 bytes more), of any layout: the predicted ones are brought to the cut of
// the true ones, or these to theirs if only the predicted ones are split. Results are the same on every rank. All are
// collective, and throw ValueError for shapes that differ and no rows, TypeError for labels with fractions, and
// ValueError for weights as estimators do. Weights cost one all-reduce of 24 bytes more.
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

/// The correlation of true and predicted labels (Matthews 1975; Gorodkin 2004 for more than two), 0 where all rows have
/// one label or are predicted to have one. Communicates as precision_recall_fscore_support.
[[nodiscard]] double matthews_corrcoef(const DNDarray& y_true, const DNDarray& y_pred,
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
/// The share of the rows that have a label, are said to, or both, that are right (Jaccard 1901). As precision_score.
[[nodiscard]] double jaccard_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});

struct ReportOptions {
  std::vector<std::string> target_names = {};  ///< of the labels, in rising order; none: the labels
  std::int64_t digits = 2;                     ///< behind the point
  std::optional<DNDarray> sample_weight = std::nullopt;
  double zero_division = 0;
};
/// The scores of every label, the accuracy and the means of the scores as a table for people. Communicates as
/// precision_recall_fscore_support. Throws ValueError for another number of names than labels, and digits not in
/// 0 .. 20.
[[nodiscard]] std::string classification_report(const DNDarray& y_true, const DNDarray& y_pred,
                                                const ReportOptions& options = {});

struct LogLossOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, rising; none: those in y_true
};
/// Minus the mean logarithm of the probability of the true label, of which none counts as less than the rounding of its
/// dtype: (n, C) probabilities of the sorted labels, or (n,) of the larger of two. One all-reduce of 24 bytes, and
/// where labels are not given those of confusion_matrix. Throws ValueError for another number of columns, labels that
/// have none, and probabilities outside of 0 .. 1.
[[nodiscard]] double log_loss(const DNDarray& y_true, const DNDarray& y_prob, const LogLossOptions& options = {});

struct BrierOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, rising; none: those in y_true
};
/// The mean square of how far probabilities are from 1 for the true label and 0 for others (Brier 1950): of two labels
/// that of the larger one's, of more the sum over labels. Probabilities, messages and errors as log_loss.
[[nodiscard]] double brier_score_loss(const DNDarray& y_true, const DNDarray& y_prob, const BrierOptions& options = {});

struct TopKOptions {
  std::int64_t k = 2;
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, rising; none: those in y_true
};
/// The share of rows whose label has one of the k largest scores, of equal ones the last: (n, C) scores of the sorted
/// labels, or (n,) of the larger of two, which counts as said from 1/2 on if all scores are 0 to 1 and else from 0 on.
/// One all-reduce of 40 bytes, and where labels are not given those of confusion_matrix. Throws ValueError for k below
/// 1, another number of columns, labels that have none, and scores that are not finite.
[[nodiscard]] double top_k_accuracy_score(const DNDarray& y_true, const DNDarray& y_score,
                                          const TopKOptions& options = {});

}  // namespace heatpp

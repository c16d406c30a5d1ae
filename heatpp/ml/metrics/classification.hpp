#pragma once

#include <heatpp/core/dndarray.hpp>

// Quality of predicted labels, by the rules of scikit-learn. Labels are vectors of whole numbers or bool, or of
// floating numbers that are whole (one more all-reduce of 16 bytes), of any layout: predicted ones are brought to the
// cut of the true ones, or the inverse if only the predicted ones are split. Results are equal on every rank. All are
// collective, and throw ValueError for shapes that differ and no rows, TypeError for labels with fractions, and
// ValueError for weights as estimators do. Weights cost one more all-reduce of 24 bytes.
namespace heatpp {

struct MetricOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
};

struct AccuracyOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  bool normalize = true;  ///< the share of the rows; false: their number, or the sum of their weights
};
/// Returns the share of rows whose labels agree. One all-reduce of 24 bytes.
[[nodiscard]] double accuracy_score(const DNDarray& y_true, const DNDarray& y_pred,
                                    const AccuracyOptions& options = {});
/// Returns the mean over the true labels of their recall. Communicates as
/// precision_recall_fscore_support.
[[nodiscard]] double balanced_accuracy_score(const DNDarray& y_true, const DNDarray& y_pred,
                                             const MetricOptions& options = {});

/// Returns the correlation of true and predicted labels (Matthews 1975; Gorodkin 2004 for more than two), 0 if all true
/// or all predicted labels are equal. Communicates as precision_recall_fscore_support.
[[nodiscard]] double matthews_corrcoef(const DNDarray& y_true, const DNDarray& y_pred,
                                       const MetricOptions& options = {});

/// What the numbers of a confusion matrix are divided by: the sum of their row (the true label), of their column (the
/// predicted label), or of all.
enum class ConfusionShare { truth, predicted, all };

struct ConfusionOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< those of the matrix, in this order; none: all of both vectors, increasing
  std::optional<ConfusionShare> normalize = std::nullopt;  ///< nullopt: numbers of rows; shares of no rows are 0
};
struct ConfusionMatrix {
  DNDarray matrix;  ///< (C, C): rows of true label i that were predicted as j; int64, or float64 of weights and shares
  DNDarray labels;  ///< (C,)
};
/// Counts how often each label was predicted as each. One all-reduce of 16 bytes, one of a byte for each number from
/// the least to the largest label (more than 65536 apart: as `unique`) and one of 8 (C^2 + 1), of 8 more for given
/// labels. Throws ValueError for given labels of which none is in y_true, and for one that is given twice.
[[nodiscard]] ConfusionMatrix confusion_matrix(const DNDarray& y_true, const DNDarray& y_pred,
                                               const ConfusionOptions& options = {});

struct PerClassOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  double zero_division = 0;               ///< the score of a label if it is 0 / 0; NaN: averages leave it out
  std::vector<std::int64_t> labels = {};  ///< whose scores are wanted, in this order; none: all, increasing
};
/// Scores for every label: float64 of shape (C,).
struct PerClass {
  DNDarray labels;     ///< int64
  DNDarray precision;  ///< the share of predicted rows that are true
  DNDarray recall;     ///< the share of true rows that were predicted
  DNDarray f1;         ///< their harmonic mean
  DNDarray support;    ///< the weight of true rows
};
/// Returns the scores of every label. Communicates as confusion_matrix, but 8 (3 C + 1) bytes in the last all-reduce.
/// Throws ValueError for a label that is given twice.
[[nodiscard]] PerClass precision_recall_fscore_support(const DNDarray& y_true, const DNDarray& y_pred,
                                                       const PerClassOptions& options = {});
/// Returns the jaccard_score of every label, float64 of shape (C,). As precision_recall_fscore_support.
[[nodiscard]] DNDarray jaccard_scores(const DNDarray& y_true, const DNDarray& y_pred,
                                      const PerClassOptions& options = {});

/// The average over labels.
enum class ScoreAverage {
  binary,    ///< the score of pos_label, for at most two labels
  micro,     ///< the score of all rows together
  macro,     ///< the mean over labels
  weighted,  ///< the mean over labels, weighted by their true rows
};
struct FScoreOptions {
  ScoreAverage average = ScoreAverage::binary;
  std::int64_t pos_label = 1;  ///< for ScoreAverage::binary
  std::optional<DNDarray> sample_weight = std::nullopt;
  double zero_division = 0;               ///< the score of a label if it is 0 / 0; NaN: averages leave it out
  std::vector<std::int64_t> labels = {};  ///< over which other averages than binary are taken; none: all
};
/// Return averages of the scores in PerClass. Communicate as precision_recall_fscore_support. Throw ValueError for
/// ScoreAverage::binary with more than two labels, or two other labels, and for a label that is given twice.
[[nodiscard]] double precision_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});
[[nodiscard]] double recall_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});
[[nodiscard]] double f1_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});
/// Returns the average of intersection / union of true and predicted rows (Jaccard 1901). As precision_score.
[[nodiscard]] double jaccard_score(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options = {});

struct ReportOptions {
  std::vector<std::string> target_names = {};  ///< names of the labels, in their order; none: the labels
  std::int64_t digits = 2;                     ///< after the decimal point
  std::optional<DNDarray> sample_weight = std::nullopt;
  double zero_division = 0;               ///< as in PerClassOptions
  std::vector<std::int64_t> labels = {};  ///< those of the lines, in this order; none: all, increasing
};
/// Returns a table, for reading, of the scores of every label, the accuracy (the micro average if some labels are left
/// out) and the mean scores. Communicates as precision_recall_fscore_support. Throws ValueError for another number of
/// names than labels, digits not in 0 .. 20, and a label that is given twice.
[[nodiscard]] std::string classification_report(const DNDarray& y_true, const DNDarray& y_pred,
                                                const ReportOptions& options = {});

struct LogLossOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, increasing; none: those in y_true
  bool normalize = true;                  ///< the mean; false: the sum
};
/// Returns minus the mean logarithm of the true label's probability, which is at least the rounding unit of its dtype:
/// (n, C) probabilities of the sorted labels, or (n,) of the larger of two. One all-reduce of 24 bytes, and without
/// given labels those of confusion_matrix. Throws ValueError for another number of columns, labels without a column,
/// and probabilities outside of 0 .. 1.
[[nodiscard]] double log_loss(const DNDarray& y_true, const DNDarray& y_prob, const LogLossOptions& options = {});

struct BrierOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, increasing; none: those in y_true
};
/// Returns the mean squared difference of probabilities from 1 for the true label and 0 for others (Brier 1950): of the
/// larger of two labels, or summed over more. Probabilities, messages and errors as log_loss.
[[nodiscard]] double brier_score_loss(const DNDarray& y_true, const DNDarray& y_prob, const BrierOptions& options = {});

struct TopKOptions {
  std::int64_t k = 2;
  std::optional<DNDarray> sample_weight = std::nullopt;
  std::vector<std::int64_t> labels = {};  ///< of the columns, increasing; none: those in y_true
  bool normalize = true;                  ///< the share of the rows; false: their number, or the sum of their weights
};
/// Returns the share of rows whose label is among the k largest scores; for ties the last labels count. Scores are (n,
/// C) for the sorted labels, or (n,) for the larger of two, predicted from 1/2 on if all scores are in 0 .. 1, else
/// from 0 on. One all-reduce of 40 bytes, and without given labels those of confusion_matrix. Throws ValueError for k
/// below 1, another number of columns, labels without a column, and scores that are not finite.
[[nodiscard]] double top_k_accuracy_score(const DNDarray& y_true, const DNDarray& y_score,
                                          const TopKOptions& options = {});

}  // namespace heatpp

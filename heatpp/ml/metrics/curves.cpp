#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ml/metrics/detail/scores.hpp>
#include <heatpp/ml/metrics/ranking.hpp>
#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/sort.hpp>

#include <limits>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto infinity = std::numeric_limits<double>::infinity();

/// Returns which of this rank's rows are positive: those of pos_label, or of the larger of two labels.
at::Tensor wanted_rows(const char* op, const LabelledScores& given, std::optional<std::int64_t> pos_label) {
  const auto& labels = given.labels;
  if (given.scores.size(1) != 1)
    detail::raise<ValueError>(op, "got {} columns of scores; expected a vector", given.scores.size(1));
  if (!pos_label && labels.size() != 2)
    detail::raise<ValueError>(op, "got {} labels; expected two, or pos_label", labels.size());
  const auto label = pos_label.value_or(labels.back());
  if (labels.size() < 2 || !std::ranges::binary_search(labels, label))
    detail::raise<ValueError>(op, "got {} labels from {} to {}, and {} as the positive one; expected it and others",
                              labels.size(), labels.front(), labels.back(), label);
  return given.has(label);
}

/// Returns the elements of `x` for which `mask`, of any layout, is true.
DNDarray where_true(const DNDarray& x, const DNDarray& mask) { return x.index({detail::brought_to(mask, x.layout())}); }

/// The weight of positive and of other rows with a score of at least each threshold, in decreasing order of
/// thresholds.
struct Steps {
  DNDarray found, others, thresholds;
  Steps(const LabelledScores& given, std::int64_t column, const at::Tensor& wanted) {
    const auto weight = given.weights.value_or(at::ones_like(wanted, at::kDouble));
    const auto counted = weight > 0;
    const auto score = chosen(given.rows, given.scores.select(1, column).contiguous(), counted);
    const auto order = argsort(score, {.descending = true});
    const auto sorted = score.index({order});
    const auto last_of_equal = diff(sorted, {.append = infinity}) != 0.0;
    const auto up_to = [&](const at::Tensor& of) {
      const auto sums = cumsum(chosen(given.rows, weight * of, counted).index({order}), 0);
      return where_true(sums, last_of_equal);
    };
    found = up_to(wanted);
    others = up_to(wanted.logical_not());
    thresholds = where_true(sorted, last_of_equal);
  }
  void keep(const DNDarray& mask) {
    found = where_true(found, mask);
    others = where_true(others, mask);
    thresholds = where_true(thresholds, mask);
  }
};

/// Marks the points where the line changes its slope, and its ends.
DNDarray bends(const DNDarray& x) { return diff(diff(x, {.prepend = infinity, .append = infinity})) != 0.0; }
/// Marks points that differ from the one before or after.
DNDarray changes(const DNDarray& x) {
  const auto before = diff(x, {.prepend = infinity}), behind = diff(x, {.append = infinity});
  return logical_or(before != 0.0, behind != 0.0);
}

DNDarray beside(const DNDarray& x, double number) { return full({1}, number, {.dtype = float64, .comm = x.comm()}); }

double last(const DNDarray& x) { return x.index({-1}).item<double>(); }

double average_precision(const LabelledScores& given, std::int64_t column, const at::Tensor& wanted) {
  const Steps steps(given, column, wanted);
  const auto gained = diff(steps.found, {.prepend = 0.0});
  return sum(gained * (steps.found / (steps.found + steps.others))).item<double>() / last(steps.found);
}

/// Returns the score of each column against all others.
std::vector<double> average_precisions(const char* op, const LabelledScores& given) {
  if (std::ssize(given.labels) != given.scores.size(1) || given.labels.size() < 2)
    detail::raise<ValueError>(op, "got {} labels for {} columns of scores; expected as many, at least two",
                              given.labels.size(), given.scores.size(1));
  std::vector<double> scores;
  for (const auto label : given.labels)
    scores.push_back(average_precision(given, std::ssize(scores), given.has(label)));
  return scores;
}

}  // namespace

RocCurve roc_curve(const DNDarray& y_true, const DNDarray& y_score, const RocCurveOptions& options) {
  constexpr auto op = "roc_curve";
  const LabelledScores given(op, y_true, y_score, options.sample_weight);
  Steps steps(given, 0, wanted_rows(op, given, options.pos_label));
  if (options.drop_intermediate) steps.keep(logical_or(bends(steps.found), bends(steps.others)));
  const auto share = [](const DNDarray& x) { return concatenate({beside(x, 0), x}) / last(x); };
  return {share(steps.others), share(steps.found), concatenate({beside(steps.thresholds, infinity), steps.thresholds})};
}

PrecisionRecallCurve precision_recall_curve(const DNDarray& y_true, const DNDarray& y_score,
                                            const PrecisionRecallOptions& options) {
  constexpr auto op = "precision_recall_curve";
  const LabelledScores given(op, y_true, y_score, options.sample_weight);
  Steps steps(given, 0, wanted_rows(op, given, options.pos_label));
  if (options.drop_intermediate) steps.keep(changes(steps.found));
  const auto rising = [](const DNDarray& x, double end) { return concatenate({flip(x), beside(x, end)}); };
  return {rising(steps.found / (steps.found + steps.others), 1), rising(steps.found / last(steps.found), 0),
          flip(steps.thresholds)};
}

double average_precision_score(const DNDarray& y_true, const DNDarray& y_score,
                               const AveragePrecisionOptions& options) {
  constexpr auto op = "average_precision_score";
  const LabelledScores given(op, y_true, y_score, options.sample_weight);
  if (y_score.ndim() == 1) return average_precision(given, 0, wanted_rows(op, given, options.pos_label));
  const auto scores = average_precisions(op, given);
  return mean_of(op, options.average, scores, given.sizes());
}

DNDarray average_precision_scores(const DNDarray& y_true, const DNDarray& y_score, const MetricOptions& options) {
  constexpr auto op = "average_precision_scores";
  const LabelledScores given(op, y_true, y_score, options.sample_weight);
  return replicated(at::tensor(average_precisions(op, given), at::kDouble), float64, given.rows.comm());
}

}  // namespace heatpp

#include <heatpp/ml/tree/hist_gradient_boosting.hpp>

#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/tree.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/metrics/regression.hpp>
#include <heatpp/ml/tree/detail/boosting.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Returns the scores (rows, outputs) of a block.
at::Tensor scores_of(const FittedBoosting& fitted, const at::Tensor& block) {
  auto scores = at::zeros({block.size(0), fitted.outputs()}, at::kDouble);
  with_piece(block, 0, [&](const auto& piece) {
    fitted.add_scores(piece, scores.mutable_data_ptr<double>(), fitted.outputs(), 1);
  });
  return scores;
}

Loss loss_of(BoostingLoss loss) {
  switch (loss) {
    case BoostingLoss::squared_error: return Loss::squared_error;
    case BoostingLoss::poisson: return Loss::poisson;
    case BoostingLoss::absolute_error: return Loss::absolute_error;
    case BoostingLoss::quantile: break;
  }
  return Loss::quantile;
}

void check_not_negative(const char* op, const Rows& rows, const at::Tensor& targets) {
  Totals largest(1, ReduceOp::max);
  if (targets.numel() > 0) largest.of(0)[0] = -targets.min().item<double>();
  if (const auto most = largest.over_ranks(rows)[0]; most > 0)
    detail::raise<ValueError>(op, "got a target of {} with Poisson's loss; expected none below 0", -most);
}

}  // namespace

double TreeRegressor::score(const Rows& x, const DNDarray& y, const FitOptions& options) const {
  const auto predictions = predicted("score", x);
  if (y.shape() != predictions.shape())
    detail::raise<ValueError>(Method(kind_, "score"), "got targets of shape {} for {} rows; expected one for each",
                              to_string(y.shape()), x.size());
  return r2_score(y, predictions, {.sample_weight = options.sample_weight});
}

HistGradientBoostingRegressor& HistGradientBoostingRegressor::fit(const Rows& x, const DNDarray& y,
                                                                  const FitOptions& options) {
  constexpr auto op = "HistGradientBoostingRegressor.fit";
  check_agreed(op, x, options_);
  check_options(op, options_, x.features());
  check_no_class_weights(op, options_.class_weight);
  check_not_empty(op, x);
  const auto targets = beside_rows(op, "targets", x, y);
  const auto weights = weights_beside(op, x, options.sample_weight);
  if (options_.loss == BoostingLoss::poisson) check_not_negative(op, x, targets);
  const auto share = options_.loss == BoostingLoss::quantile ? *options_.quantile : 0.5;
  fitted_ = boosted({op, x, loss_of(options_.loss), 1, targets, weights, {}, share}, options_, fitted_);
  return *this;
}

DNDarray HistGradientBoostingRegressor::predicted(const char* what, const Rows& x) const {
  const auto& model = fitted_state(what);
  check_features(Method(kind(), what), x, model.features);
  const bool poisson = options_.loss == BoostingLoss::poisson;
  const auto y = mapped(x, 1, [&](const at::Tensor& block) {
    const auto scores = scores_of(model, block);
    return poisson ? scores.exp() : scores;
  });
  return as_rows(x, y.larray().select(1, 0));
}

const FittedBoosting& HistGradientBoostingRegressor::fitted_state(const char* what) const {
  return fitted(Method(kind(), what), fitted_);
}
const FittedBoosting& HistGradientBoostingClassifier::fitted_state(const char* what) const {
  return fitted(Method(kind(), what), fitted_);
}

std::int64_t HistGradientBoostingRegressor::iterations() const { return fitted_state("iterations").iterations(); }
std::int64_t HistGradientBoostingClassifier::iterations() const { return fitted_state("iterations").iterations(); }

HistGradientBoostingClassifier& HistGradientBoostingClassifier::fit(const Rows& x, const DNDarray& y,
                                                                    const FitOptions& options) {
  constexpr auto op = "HistGradientBoostingClassifier.fit";
  check_agreed(op, x, options_);
  check_options(op, options_, x.features());
  if (options_.loss != BoostingLoss::squared_error)
    detail::raise<ValueError>(op, "got a loss of regressors; expected none, because classes have the log loss");
  check_not_empty(op, x);
  const auto classes = classes_beside(op, x, y);
  if (classes.count() < 2)
    detail::raise<ValueError>(op, "got labels of {} class; expected at least two", classes.count());
  if (classes.count() > 2 && std::ranges::any_of(options_.monotonic_cst, [](auto d) { return d != 0; }))
    detail::raise<ValueError>(op, "got monotonic_cst for {} classes; expected two, or no directions", classes.count());
  const auto weights =
      class_weighted(op, x, classes, weights_beside(op, x, options.sample_weight), options_.class_weight);
  const auto labels =
      at::from_blob(const_cast<std::int32_t*>(classes.index.data()), {x.count()}, at::kInt).to(at::kDouble);
  const bool two = classes.count() == 2;
  const bool same = classes_ && at::equal(classes_->values.larray(), classes.values);
  fitted_ = boosted({op, x, two ? Loss::two_classes : Loss::softmax, two ? 1 : classes.count(), labels, weights, {}},
                    options_, same ? fitted_ : nullptr);
  classes_ = Classes{replicated(classes.values, int64, x.comm()), x.features()};
  return *this;
}

Classifier::Scores HistGradientBoostingClassifier::scores() const {
  return [fitted = fitted_](const RowBlock& block) {
    const auto z = scores_of(*fitted, block.dense());
    return z.size(1) > 1 ? z : at::cat({at::zeros_like(z), z}, 1);
  };
}

DNDarray HistGradientBoostingClassifier::decision_function(const Rows& x) const {
  const auto& model = fitted_state("decision_function");
  check_features(Method(kind(), "decision_function"), x, model.features);
  const auto z = mapped(x, model.outputs(), [&](const at::Tensor& block) { return scores_of(model, block); });
  return z.shape()[1] > 1 ? z : as_rows(x, z.larray().select(1, 0));
}

}  // namespace heatpp

#include <heatpp/ml/linear/logistic_regression.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/linear.hpp>
#include <heatpp/ml/linear/detail/glm.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto logistic_op = "LogisticRegression.fit";

void check_options(const LogisticOptions& o) {
  if (!(o.c > 0) || !(o.l1_ratio >= 0 && o.l1_ratio <= 1) || o.max_iterations < 1 || !(o.tol >= 0))
    detail::raise<ValueError>(logistic_op,
                              "got c {}, l1_ratio {}, {} iterations and tol {}; expected c > 0, 0 <= l1_ratio <= 1, "
                              "iterations >= 1 and tol >= 0",
                              o.c, o.l1_ratio, o.max_iterations, o.tol);
}

/// Returns the weighted sum of losses of a piece; also weights their derivatives.
double weighted(const at::Tensor& losses, at::Tensor& derivatives, const std::optional<at::Tensor>& weights,
                std::int64_t first) {
  if (!weights) return losses.sum().item<double>();
  const auto w = weights->slice(0, first, first + losses.size(0)).unsqueeze(1);
  derivatives.mul_(w);
  return (losses * w).sum().item<double>();
}

/// Returns the loss log(1 + exp(z)), minus z for rows of the second class.
RowLoss two_classes(const at::Tensor& labels, const std::optional<at::Tensor>& weights) {
  return [second = labels.to(at::kDouble).unsqueeze(1), weights](at::Tensor& z, std::int64_t first) {
    const auto y = second.slice(0, first, first + z.size(0));
    const auto losses = z.abs().neg_().exp_().log1p_().add_(z.clamp_min(0)).sub_(y * z);
    z.sigmoid_().sub_(y);
    return weighted(losses, z, weights, first);
  };
}

RowLoss softmax(const at::Tensor& labels, const std::optional<at::Tensor>& weights) {
  return [own = labels.unsqueeze(1), weights](at::Tensor& z, std::int64_t first) {
    const auto y = own.slice(0, first, first + z.size(0));
    const auto logs = z.log_softmax(1);
    const auto losses = logs.gather(1, y).neg_();
    z = logs.exp();
    z.scatter_add_(1, y, at::full_like(losses, -1));
    return weighted(losses, z, weights, first);
  };
}

}  // namespace

LogisticRegression& LogisticRegression::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed(logistic_op, x, options_);
  check_options(options_);
  check_not_empty(logistic_op, x);
  const auto classes = classes_beside(logistic_op, x, y);
  if (classes.count() < 2)
    detail::raise<ValueError>(logistic_op, "got labels of {} class; expected at least two", classes.count());
  const auto weights = class_weighted(logistic_op, x, classes, weights_beside(logistic_op, x, options.sample_weight),
                                      options_.class_weight, Balance::of_weights);
  const auto outputs = classes.count() == 2 ? 1 : classes.count();
  const auto labels =
      at::from_blob(const_cast<std::int32_t*>(classes.index.data()), {x.count()}, at::kInt).to(at::kLong);
  GlmFit start{at::zeros({outputs, x.features()}, at::kDouble), at::zeros({outputs}, at::kDouble)};
  if (options_.warm_start && fitted_ && fitted_->coef.shape() == Shape{outputs, x.features()})
    start = {fitted_->coef.larray(), fitted_->intercept.larray()};
  const auto found = fitted(
      {logistic_op, x, weights ? weights->const_data_ptr<double>() : nullptr,
       outputs == 1 ? two_classes(labels, weights) : softmax(labels, weights), outputs,
       (1 - options_.l1_ratio) / options_.c, options_.l1_ratio / options_.c, PenaltyBeside::sum, options_.intercept},
      start, {options_.max_iterations, options_.tol, options_.progress});
  classes_ = Classes{replicated(classes.values, int64, x.comm()), x.features()};
  fitted_ = Fitted{replicated(found.coef, float64, x.comm()), replicated(found.intercept, float64, x.comm()),
                   working_dtype(x), found.iterations, found.converged};
  return *this;
}

Classifier::Scores LogisticRegression::scores() const {
  return
      [coef = fitted_->coef.larray().t().contiguous(), intercept = fitted_->intercept.larray()](const RowBlock& block) {
        const auto z = block.times(coef).add_(intercept);
        return z.size(1) > 1 ? z : at::cat({at::zeros_like(z), z}, 1);
      };
}

DNDarray LogisticRegression::decision_function(const Rows& x) const {
  const auto& model = fitted_state("decision_function");
  check_features(Method(kind(), "decision_function"), x, model.coef.shape()[1]);
  const auto coef = model.coef.larray().t().contiguous(), intercept = model.intercept.larray();
  const auto z =
      mapped_stored(x, coef.size(1), [&](const RowBlock& block) { return block.times(coef).add_(intercept); });
  return coef.size(1) > 1 ? z : as_rows(x, z.larray().select(1, 0));
}

const LogisticRegression::Fitted& LogisticRegression::fitted_state(const char* what) const {
  return fitted(Method(kind(), what), fitted_);
}

DNDarray LogisticRegression::coef() const {
  const auto& model = fitted_state("coef");
  return replicated(model.coef.larray(), model.dtype, model.coef.comm());
}

DNDarray LogisticRegression::intercept() const {
  const auto& model = fitted_state("intercept");
  return replicated(model.intercept.larray(), model.dtype, model.coef.comm());
}

std::int64_t LogisticRegression::iterations() const { return fitted_state("iterations").iterations; }
bool LogisticRegression::converged() const { return fitted_state("converged").converged; }

}  // namespace heatpp

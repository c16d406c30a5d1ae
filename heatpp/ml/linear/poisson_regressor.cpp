#include <heatpp/ml/linear/poisson_regressor.hpp>

#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/linear.hpp>
#include <heatpp/ml/linear/detail/glm.hpp>
#include <heatpp/ml/linear/detail/least_squares.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto fit_op = "PoissonRegressor.fit";

struct Counts {
  at::Tensor values, weights;  ///< (rows,) of this rank; weights are 1 if there are none
  double mean;
};

/// Returns this rank's targets and weights. Throws on all ranks if any rank has an invalid target.
Counts counts_beside(const char* op, const Rows& x, const DNDarray& y, const FitOptions& options) {
  const auto values = beside_rows(op, "targets", x, y);
  const auto weights = weights_beside(op, x, options.sample_weight).value_or(at::ones_like(values));
  const auto bad = at::logical_or(values.isfinite().logical_not(), values < 0);
  auto sums = at::stack({(values * weights).sum(), weights.sum(), bad.sum().to(at::kDouble)});
  sum_over_ranks(x, sums, std::nullopt);
  const auto mean = (sums[0] / sums[1]).item<double>();
  if (sums[2].item<double>() > 0 || !(mean > 0))
    detail::raise<ValueError>(
        op, "got {} targets that are negative or not finite, and a mean of {}; expected none, and more than 0",
        sums[2].item<double>(), mean);
  return {values, weights, mean};
}

/// Returns the loss exp(z) - y z: half the deviance, up to terms without z.
RowLoss poisson(const Counts& counts) {
  return [counts](at::Tensor& z, std::int64_t first) {
    const auto last = first + z.size(0);
    const auto y = counts.values.slice(0, first, last).unsqueeze(1),
               w = counts.weights.slice(0, first, last).unsqueeze(1);
    const auto expected = z.exp();
    const auto loss = ((expected - y * z) * w).sum().item<double>();
    z = (expected - y) * w;
    return loss;
  };
}

at::Tensor half_deviances(const at::Tensor& y, const at::Tensor& expected) {
  return at::xlogy(y, y / expected) - y + expected;
}

}  // namespace

PoissonRegressor& PoissonRegressor::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed(fit_op, x, options_);
  if (!(options_.alpha >= 0) || options_.max_iterations < 1 || !(options_.tol >= 0))
    detail::raise<ValueError>(fit_op,
                              "got alpha {}, {} iterations and tol {}; expected alpha and tol >= 0 and iterations >= 1",
                              options_.alpha, options_.max_iterations, options_.tol);
  check_not_empty(fit_op, x);
  const auto counts = counts_beside(fit_op, x, y, options);
  const auto shift = options_.intercept ? std::log(counts.mean) : 0.0;
  GlmFit start{at::zeros({1, x.features()}, at::kDouble), at::full({1}, shift, at::kDouble)};
  if (options_.warm_start && fitted_ && fitted_->coef.shape() == Shape{1, x.features()})
    start = {fitted_->coef.larray(), fitted_->intercept.larray()};
  const auto found = fitted({fit_op, x, counts.weights.const_data_ptr<double>(), poisson(counts), 1, options_.alpha, 0,
                             PenaltyBeside::mean, options_.intercept},
                            start, {options_.max_iterations, options_.tol, options_.progress});
  fitted_ = fitted_plane(x, {counts.values, true}, {found.coef, found.intercept});
  iterations_ = found.iterations;
  converged_ = found.converged;
  return *this;
}

DNDarray PoissonRegressor::predict(const Rows& x) const {
  const auto& model = fitted_state("predict");
  check_features(Method(kind(), "predict"), x, model.coef.shape()[1]);
  const auto coef = model.coef.larray().t(), intercept = model.intercept.larray();
  const auto y =
      mapped(x, 1, [&](const at::Tensor& block) { return at::addmm(intercept, block.to(at::kDouble), coef).exp_(); });
  return as_rows(x, y.larray().select(1, 0));
}

double PoissonRegressor::score(const Rows& x, const DNDarray& y, const FitOptions& options) const {
  const Method op(kind(), "score");
  check_features(op, x, fitted_state("score").coef.shape()[1]);
  const auto expected = predict(x).larray().to(at::kDouble);
  const auto counts = counts_beside(op, x, y, options);
  const auto weighted = [&](const at::Tensor& deviances) { return (deviances * counts.weights).sum(); };
  auto sums = at::stack({weighted(half_deviances(counts.values, expected)),
                         weighted(half_deviances(counts.values, at::full_like(expected, counts.mean)))});
  sum_over_ranks(x, sums, std::nullopt);
  return 1 - (sums[0] / sums[1]).item<double>();
}

std::int64_t PoissonRegressor::iterations() const {
  static_cast<void>(fitted_state("iterations"));
  return iterations_;
}

bool PoissonRegressor::converged() const {
  static_cast<void>(fitted_state("converged"));
  return converged_;
}

}  // namespace heatpp

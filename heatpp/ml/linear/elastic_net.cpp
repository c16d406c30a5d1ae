#include <heatpp/ml/linear/elastic_net.hpp>

#include <heatpp/ml/detail/ending.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/linear.hpp>
#include <heatpp/ml/linear/detail/coordinate_descent.hpp>
#include <heatpp/ml/linear/detail/least_squares.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

void check_options(const char* op, const ElasticNetOptions& o) {
  if (!(o.alpha >= 0) || !std::isfinite(o.alpha) || !(o.l1_ratio >= 0 && o.l1_ratio <= 1) || o.max_iterations < 1 ||
      !(o.tol >= 0))
    detail::raise<ValueError>(op,
                              "got alpha {}, l1_ratio {}, {} iterations and tol {}; expected alpha and tol >= 0, "
                              "0 <= l1_ratio <= 1 and iterations >= 1",
                              o.alpha, o.l1_ratio, o.max_iterations, o.tol);
}

/// The sums of one pass over the rows for each target.
struct Problem {
  Gram gram;
  std::vector<Quadratic> of_target;
};

Problem problem_of(const char* op, const Rows& x, const Targets& targets, bool intercept,
                   const std::optional<DNDarray>& sample_weight) {
  const auto weights = weights_beside(op, x, sample_weight);
  const auto f = x.features();
  Problem result{gram(op, x, {weights ? weights->const_data_ptr<double>() : nullptr, targets.values}), {}};
  const auto& found = result.gram;
  const auto [xx, xy, squares] = normal_equations(found, f, intercept);
  const auto q = (xx / found.n).contiguous(), b = (xy / found.n).t().contiguous();
  const auto yy = squares / found.n;
  for (std::int64_t t = 0; t < b.size(0); ++t) result.of_target.push_back({q, b[t], yy[t].item<double>()});
  return result;
}

std::span<double> numbers(at::Tensor row) { return {row.data_ptr<double>(), static_cast<std::size_t>(row.numel())}; }

Penalties penalties(double alpha, double l1_ratio) { return {alpha * l1_ratio, alpha * (1 - l1_ratio)}; }

std::vector<double> path_alphas(const char* op, const PathOptions& options, const Quadratic& problem) {
  auto alphas = options.alphas;
  if (alphas.empty()) {
    if (options.n_alphas < 1 || !(options.eps > 0 && options.eps < 1))
      detail::raise<ValueError>(op, "got n_alphas {} and eps {}; expected n_alphas >= 1 and 0 < eps < 1",
                                options.n_alphas, options.eps);
    const auto largest = (options.positive ? problem.b.max().clamp_min(0) : problem.b.abs().max()).item<double>();
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, options.n_alphas - 1));
    for (std::int64_t i = 0; i < options.n_alphas; ++i)
      alphas.push_back(largest / options.l1_ratio * std::pow(options.eps, static_cast<double>(i) / steps));
  }
  std::ranges::sort(alphas, std::greater());
  return alphas;
}

}  // namespace

ElasticNet& ElasticNet::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  const Method op(kind(), "fit");
  check_agreed(op, x, options_);
  check_options(op, options_);
  check_not_empty(op, x);
  const auto targets = targets_beside(op, x, y);
  auto coef = at::zeros({targets.values.size(1), x.features()}, at::kDouble);
  if (options_.warm_start && fitted_) {
    if (fitted_->coef.shape() != Shape{coef.size(0), coef.size(1)})
      detail::raise<ValueError>(op, "got {} targets of {} features to continue from coefficients of shape {}",
                                coef.size(0), coef.size(1), to_string(fitted_->coef.shape()));
    coef.copy_(fitted_->coef.larray());
  }
  const auto problem = problem_of(op, x, targets, options_.intercept, options.sample_weight);
  dual_gap_ = 0;
  iterations_ = 0;
  converged_ = true;
  for (std::int64_t t = 0; t < coef.size(0); ++t) {
    const auto [gap, iterations, converged] =
        coordinate_descent(problem.of_target[static_cast<std::size_t>(t)], penalties(options_.alpha, options_.l1_ratio),
                           {options_.max_iterations, options_.tol, options_.positive}, numbers(coef[t]));
    dual_gap_ = std::max(dual_gap_, gap);
    iterations_ = std::max(iterations_, iterations);
    converged_ = converged_ && converged;
  }
  warn_unless(converged_ || options_.tol == 0, op, iterations_);
  fitted_ = fitted_plane(x, targets, plane_of(problem.gram, coef.t(), options_.intercept));
  return *this;
}

double ElasticNet::dual_gap() const {
  static_cast<void>(fitted_state("dual_gap"));
  return dual_gap_;
}

std::int64_t ElasticNet::iterations() const {
  static_cast<void>(fitted_state("iterations"));
  return iterations_;
}

bool ElasticNet::converged() const {
  static_cast<void>(fitted_state("converged"));
  return converged_;
}

LinearPath lasso_path(const Rows& x, const DNDarray& y, const PathOptions& options) {
  constexpr auto op = "lasso_path";
  for (const auto alpha : options.alphas.empty() ? std::vector{0.0} : options.alphas)
    check_options(
        op,
        {.alpha = alpha, .l1_ratio = options.l1_ratio, .max_iterations = options.max_iterations, .tol = options.tol});
  if (!(options.l1_ratio > 0)) detail::raise<ValueError>(op, "got l1_ratio 0; expected more");
  check_not_empty(op, x);
  if (y.ndim() != 1) detail::raise<ValueError>(op, "got y of shape {}; expected ({},)", to_string(y.shape()), x.size());
  const auto targets = targets_beside(op, x, y);
  const auto problem = problem_of(op, x, targets, options.intercept, options.sample_weight);
  const auto alphas = path_alphas(op, options, problem.of_target[0]);
  auto w = at::zeros({x.features()}, at::kDouble);
  auto coefs = at::empty({std::ssize(alphas), x.features()}, at::kDouble);
  std::vector<double> gaps;
  bool converged = true;
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    const auto found = coordinate_descent(problem.of_target[0], penalties(alphas[i], options.l1_ratio),
                                          {options.max_iterations, options.tol, options.positive}, numbers(w));
    gaps.push_back(found.gap);
    converged = converged && found.converged;
    coefs[static_cast<std::int64_t>(i)].copy_(w);
  }
  warn_unless(converged || options.tol == 0, op, options.max_iterations);
  const auto mean = problem.gram.mean;
  const auto intercepts = options.intercept ? mean[-1] - at::matmul(coefs, mean.slice(0, 0, -1))
                                            : at::zeros({std::ssize(alphas)}, at::kDouble);
  const auto whole = [&](const at::Tensor& value) { return replicated(value, float64, x.comm()); };
  return {whole(at::tensor(alphas, at::kDouble)), whole(coefs.t()), whole(intercepts),
          whole(at::tensor(gaps, at::kDouble))};
}

}  // namespace heatpp

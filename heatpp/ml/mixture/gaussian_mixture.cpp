#include <heatpp/ml/mixture/gaussian_mixture.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/cluster/detail/seeding.hpp>
#include <heatpp/ml/detail/column_moments.hpp>
#include <heatpp/ml/detail/ending.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/gram.hpp>
#include <heatpp/ml/detail/options/mixture.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/mixture/detail/expectation.hpp>

#include <limits>

namespace heatpp {
namespace {

using namespace ml::detail;
constexpr auto op = "GaussianMixture.fit";
/// Starts with a smaller difference are equally good: the order of the same components would depend on the last bits.
constexpr double rounding = 1e-9;

void check_options(const GaussianMixtureOptions& o, const Rows& x) {
  if (o.n_components < 1 || o.n_components > x.size() || x.features() < 1 || o.n_init < 1 || o.max_iterations < 1 ||
      !(o.tol >= 0) || !(o.reg_covar >= 0))
    detail::raise<ValueError>(
        op,
        "got {} components of {} rows of {} features, n_init {}, {} iterations, tol {} and "
        "reg_covar {}; expected 1 <= components <= rows, features, n_init and iterations >= 1, tol "
        "and reg_covar >= 0",
        o.n_components, x.size(), x.features(), o.n_init, o.max_iterations, o.tol, o.reg_covar);
}

/// Returns a given start, on every rank. Collective if it is split.
std::optional<at::Tensor> given(const char* what, const std::optional<DNDarray>& x, const Shape& shape,
                                const Communicator& comm) {
  if (!x) return std::nullopt;
  if (x->shape() != shape)
    detail::raise<ValueError>(op, "got {} of shape {}; expected {}", what, to_string(x->shape()), to_string(shape));
  if (x->split()) detail::check_same_comm(op, comm, x->comm());
  const auto value = resplit(*x, std::nullopt).larray().to(at::kCPU, at::kDouble).contiguous();
  if (!value.isfinite().all().item<bool>())
    detail::raise<ValueError>(op, "got {} that are not finite; expected finite ones", what);
  return value;
}

struct Given {
  std::optional<at::Tensor> weights, means, precisions;
};
Given given_start(const GaussianMixtureOptions& o, const Rows& x) {
  const auto k = o.n_components, f = x.features();
  Given start{given("weights_init", o.weights_init, {k}, x.comm()), given("means_init", o.means_init, {k, f}, x.comm()),
              given("precisions_init", o.precisions_init, covariance_shape(o.covariance_type, k, f), x.comm())};
  if (start.weights &&
      (start.weights->lt(0).any().item<bool>() || !(std::abs(start.weights->sum().item<double>() - 1) < 1e-6)))
    detail::raise<ValueError>(op, "got weights_init that are negative or sum to {}; expected ones that sum to 1",
                              start.weights->sum().item<double>());
  return start;
}

/// Returns centers whose nearest rows make the first components, in the order of the given means, if any.
at::Tensor first_places(const Weighted& data, const GaussianMixtureOptions& o, const std::optional<at::Tensor>& means,
                        std::uint64_t seed) {
  const auto rows = means                           ? *means
                    : o.init == MixtureInit::random ? random_rows(data, o.n_components, seed)
                                                    : plus_plus(data, o.n_components, seed);
  return o.init == MixtureInit::kmeans ? lloyd(data, rows, {}).centers : rows;
}

/// Moments of the rows that a fit needs besides the rows.
struct Fit {
  Weighted data;
  const GaussianMixtureOptions& options;
  std::optional<TotalScatter> total;
  double weight;
};

/// Computes them. Throws ValueError for numbers that are not finite.
Fit fit_of(const Weighted& data, const GaussianMixtureOptions& options) {
  if (options.covariance_type != CovarianceType::tied)
    return {data, options, std::nullopt, column_moments(data.op, data.rows, data.weights)[0].n};
  const auto all = gram(data.op, data.rows, {.weights = data.weights});
  return {data, options, TotalScatter{all.mean, all.scatter}, all.n};
}

Components first_components(const Fit& fit, const Given& start, std::uint64_t seed) {
  const auto& o = fit.options;
  if (start.weights && start.means && start.precisions) {
    const auto covariances = covariances_of(op, o.covariance_type, *start.precisions);
    return {o.covariance_type, *start.weights, *start.means, covariances,
            factors_of(op, o.covariance_type, covariances)};
  }
  const auto places = first_places(fit.data, o, start.means, seed);
  auto first = maximised(op, o.covariance_type, sums_near(fit.data, o.covariance_type, places), fit.total, o.reg_covar);
  if (start.weights) first.weights = *start.weights;
  if (start.means) first.means = *start.means;
  if (start.precisions) {
    first.covariances = covariances_of(op, o.covariance_type, *start.precisions);
    first.factors = factors_of(op, o.covariance_type, first.covariances);
  }
  return first;
}

struct Found {
  Components components;
  double lower_bound = -std::numeric_limits<double>::infinity();
  bool converged = false, asked = false;  ///< asked: the callback asked to end
  std::int64_t iterations = 0;
};

Found maximise(const Fit& fit, Components components) {
  const auto& o = fit.options;
  Found found{std::move(components)};
  heatpp::detail::Watch watch;
  while (found.iterations < o.max_iterations && !found.converged) {
    const auto step = expected(fit.data, found.components, watch);
    found.components = maximised(op, o.covariance_type, step.sums, fit.total, o.reg_covar);
    const auto bound = step.log_density / fit.weight;
    found.converged = std::abs(bound - found.lower_bound) < o.tol;
    found.lower_bound = bound;
    ++found.iterations;
    watch.ask(o.progress, FitProgress{found.iterations, o.max_iterations, -bound});
    if (watch.ended()) break;
  }
  found.asked = watch.ended();
  watch.settle(fit.data.rows.comm(), fit.data.rows.distributed());
  return found;
}

Components components_of(CovarianceType type, const DNDarray& weights, const DNDarray& means,
                         const DNDarray& covariances) {
  return {type, weights.larray(), means.larray(), covariances.larray(),
          factors_of("GaussianMixture", type, covariances.larray())};
}

std::int64_t parameters(CovarianceType type, std::int64_t k, std::int64_t f) {
  switch (type) {
    case CovarianceType::full: return k * f * (f + 1) / 2 + k * f + k - 1;
    case CovarianceType::tied: return f * (f + 1) / 2 + k * f + k - 1;
    case CovarianceType::diag: return 2 * k * f + k - 1;
    case CovarianceType::spherical: break;
  }
  return k + k * f + k - 1;
}

}  // namespace

GaussianMixture& GaussianMixture::fit(const Rows& x, const FitOptions& options) {
  check_agreed(op, x, options_);
  check_options(options_, x);
  const bool go_on = options_.warm_start && fitted_;
  if (go_on) check_features(op, x, fitted_->means.shape()[1]);
  const auto start = given_start(options_, x);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const auto fit = fit_of({op, x, weights ? weights->const_data_ptr<double>() : nullptr}, options_);
  std::optional<Found> best;
  for (int attempt = 0; attempt < (go_on ? 1 : options_.n_init); ++attempt) {
    const auto first =
        go_on ? components_of(options_.covariance_type, fitted_->weights, fitted_->means, fitted_->covariances)
              : first_components(fit, start, seed_of(options_.seed, static_cast<std::uint64_t>(attempt)));
    auto found = maximise(fit, first);
    if (!best || found.lower_bound > best->lower_bound + rounding * std::abs(best->lower_bound))
      best = std::move(found);
  }
  const auto whole = [&](const at::Tensor& value) { return replicated(value, float64, x.comm()); };
  const auto& c = best->components;
  warn_unless(best->converged || best->asked || options_.tol == 0, op, best->iterations);
  fitted_ = Fitted{whole(c.weights),  whole(c.means),  whole(c.covariances),
                   best->lower_bound, best->converged, best->iterations};
  return *this;
}

const GaussianMixture::Fitted& GaussianMixture::fitted_state(const char* name) const { return fitted(name, fitted_); }

const GaussianMixture::Fitted& GaussianMixture::fitted_state_for(const char* name, const Rows& x) const {
  const auto& found = fitted_state(name);
  check_features(name, x, found.means.shape()[1]);
  return found;
}

DNDarray GaussianMixture::predict(const Rows& x) const {
  const auto& [weights, means, covariances, bound, converged, iterations] =
      fitted_state_for("GaussianMixture.predict", x);
  auto labels = at::empty({x.count()}, at::kLong);
  auto* out = labels.data_ptr<std::int64_t>();
  static_cast<void>(for_shares({"GaussianMixture.predict", x, nullptr},
                               components_of(options_.covariance_type, weights, means, covariances),
                               [&, k = weights.size()](const ShareBlock& block) {
                                 for (std::int64_t i = 0; i < block.count; ++i) {
                                   std::int64_t best = 0;
                                   for (std::int64_t c = 1; c < k; ++c)
                                     if (block.shares[c * block.stride + i] > block.shares[best * block.stride + i])
                                       best = c;
                                   out[block.first + i] = best;
                                 }
                               }));
  return as_rows(x, labels);
}

DNDarray GaussianMixture::predict_proba(const Rows& x) const {
  const auto& found = fitted_state_for("GaussianMixture.predict_proba", x);
  const auto k = found.weights.size();
  auto shares = at::empty({x.count(), k}, at::kDouble);
  auto* out = shares.data_ptr<double>();
  static_cast<void>(for_shares({"GaussianMixture.predict_proba", x, nullptr},
                               components_of(options_.covariance_type, found.weights, found.means, found.covariances),
                               [&](const ShareBlock& block) {
                                 for (std::int64_t i = 0; i < block.count; ++i)
                                   for (std::int64_t c = 0; c < k; ++c)
                                     out[(block.first + i) * k + c] = block.shares[c * block.stride + i];
                               }));
  return as_rows(x, shares);
}

DNDarray GaussianMixture::score_samples(const Rows& x) const {
  const auto& found = fitted_state_for("GaussianMixture.score_samples", x);
  auto norms = at::empty({x.count()}, at::kDouble);
  static_cast<void>(for_shares(
      {"GaussianMixture.score_samples", x, nullptr},
      components_of(options_.covariance_type, found.weights, found.means, found.covariances),
      [&](const ShareBlock& block) { std::copy_n(block.norms, block.count, norms.data_ptr<double>() + block.first); }));
  return as_rows(x, norms);
}

double GaussianMixture::log_likelihood(const char* name, const Rows& x) const {
  const auto& found = fitted_state_for(name, x);
  return for_shares({name, x, nullptr},
                    components_of(options_.covariance_type, found.weights, found.means, found.covariances),
                    [](const ShareBlock&) {});
}

double GaussianMixture::score(const Rows& x) const {
  return log_likelihood("GaussianMixture.score", x) / static_cast<double>(x.size());
}

double GaussianMixture::aic(const Rows& x) const {
  const auto& shape = fitted_state("GaussianMixture.aic").means.shape();
  return 2 * static_cast<double>(parameters(options_.covariance_type, shape[0], shape[1])) -
         2 * log_likelihood("GaussianMixture.aic", x);
}

double GaussianMixture::bic(const Rows& x) const {
  const auto& shape = fitted_state("GaussianMixture.bic").means.shape();
  return static_cast<double>(parameters(options_.covariance_type, shape[0], shape[1])) *
             std::log(static_cast<double>(x.size())) -
         2 * log_likelihood("GaussianMixture.bic", x);
}

const DNDarray& GaussianMixture::weights() const { return fitted_state("GaussianMixture.weights").weights; }
const DNDarray& GaussianMixture::means() const { return fitted_state("GaussianMixture.means").means; }
const DNDarray& GaussianMixture::covariances() const { return fitted_state("GaussianMixture.covariances").covariances; }
DNDarray GaussianMixture::precisions() const {
  const auto& found = fitted_state("GaussianMixture.precisions");
  return replicated(
      precisions_of(components_of(options_.covariance_type, found.weights, found.means, found.covariances)), float64,
      found.means.comm());
}
double GaussianMixture::lower_bound() const { return fitted_state("GaussianMixture.lower_bound").lower_bound; }
bool GaussianMixture::converged() const { return fitted_state("GaussianMixture.converged").converged; }
std::int64_t GaussianMixture::iterations() const { return fitted_state("GaussianMixture.iterations").iterations; }

}  // namespace heatpp

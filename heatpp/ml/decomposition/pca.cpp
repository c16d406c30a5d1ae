#include <heatpp/ml/decomposition/pca.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/detail/affine.hpp>
#include <heatpp/ml/decomposition/detail/density.hpp>
#include <heatpp/ml/decomposition/detail/sketch.hpp>
#include <heatpp/ml/detail/gram.hpp>
#include <heatpp/ml/detail/options/decomposition.hpp>

#include <limits>
#include <numbers>

namespace heatpp {

using namespace ml::detail;

/// The result of a solver for `n` rows: the decreasing variances along `vectors`.
struct PCA::Spectrum {
  std::int64_t n;
  at::Tensor mean, variance, vectors;
  double total;   ///< variance of all columns
  bool complete;  ///< whether these are all variances, and exact
};

namespace {

const std::int64_t* count_of(const PcaOptions& options) {
  return options.n_components ? std::get_if<std::int64_t>(&*options.n_components) : nullptr;
}
const double* share_of(const PcaOptions& options) {
  return options.n_components ? std::get_if<double>(&*options.n_components) : nullptr;
}

bool wants_likeliest(const PcaOptions& options) {
  return options.n_components && std::holds_alternative<MinkaMle>(*options.n_components);
}

void check_options(const char* op, const PcaOptions& o, std::int64_t n, std::int64_t f) {
  const auto most = std::min(n, f);
  const auto* count = count_of(o);
  if (n < 2 || f < 1 || (count && (*count < 1 || *count > most)))
    detail::raise<ValueError>(op,
                              "got {} components of {} rows of {} features; expected 1 <= components <= rows and "
                              "features, and two rows",
                              count ? *count : most, n, f);
  const auto* share = share_of(o);
  if (share && (!(*share > 0 && *share < 1) || o.solver == PcaSolver::randomized))
    detail::raise<ValueError>(
        op, "got a share {} of the variance; expected a number between 0 and 1, and a solver other than randomized",
        *share);
  const bool exact = o.solver != PcaSolver::randomized && o.solver != PcaSolver::hierarchical;
  if (wants_likeliest(o) && (n < f || f < 2 || !exact))
    detail::raise<ValueError>(op,
                              "got {} rows of {} features for the likeliest number of components; expected as many "
                              "rows as features, at least two, and the solver covariance or full",
                              n, f);
  if (o.oversamples < 0 || o.power_iterations < 0)
    detail::raise<ValueError>(op,
                              "got {} more directions and {} power iterations; expected numbers that are not negative",
                              o.oversamples, o.power_iterations);
}

/// Returns how many of the decreasing values exceed a share of the total.
std::int64_t needed(const at::Tensor& variance, double total, double share) {
  return std::min(variance.size(0), (variance.cumsum(0) <= share * total).sum().item<std::int64_t>() + 1);
}

/// Returns the likeliest number of components of `n` rows with all these decreasing variances: that of the largest
/// evidence, the least number for ties. Directions without variance do not count.
std::int64_t likeliest(const at::Tensor& variance, double n) {
  const std::span v(variance.const_data_ptr<double>(), static_cast<std::size_t>(variance.numel()));
  const auto f = static_cast<double>(v.size());
  double best = -std::numeric_limits<double>::infinity(), prior = 0, logs = 0, sum = 0;
  std::int64_t found = 1;
  for (const auto value : v) sum += value;
  const auto tiny = v[0] * 1e-15;
  for (std::size_t k = 1; k < v.size() && v[k - 1] > tiny; ++k) {
    const auto d = static_cast<double>(k), half = (f - d + 1) / 2;
    prior += std::lgamma(half) - half * std::log(std::numbers::pi) - std::numbers::ln2;
    logs += std::log(v[k - 1]);
    sum -= v[k - 1];
    const auto noise = std::max(sum / (f - d), tiny);
    const auto free = f * d - d * (d + 1) / 2;
    double curvature = 0;
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = i + 1; j < v.size(); ++j)
        curvature += std::log((v[i] - v[j]) * (1 / (j < k ? v[j] : noise) - 1 / v[i])) + std::log(n);
    const auto evidence = prior - n / 2 * (logs + (f - d) * std::log(noise)) +
                          (free + d) / 2 * std::log(2 * std::numbers::pi) - curvature / 2 - d / 2 * std::log(n);
    if (evidence > best) best = evidence, found = static_cast<std::int64_t>(k);
  }
  return found;
}

/// Returns what a rank passes on of its rows: the directions that are needed and some more, or all except its part of
/// the loss that is allowed; `total` is the sum of squares over all ranks.
Shorten what_matters(const PcaOptions& options, double total) {
  return [options, total](const at::Tensor& factor) {
    const auto [s, v] = right_vectors(factor);
    auto count = s.size(0);
    if (const auto* wanted = count_of(options)) count = *wanted + options.oversamples;
    if (const auto* share = share_of(options)) {
      const auto own = s.square().sum().item<double>();
      if (own > 0) count = needed(s.square(), own, 1 - (1 - *share) / 2);
    }
    return s.slice(0, 0, count).unsqueeze(1) * v.slice(0, 0, count);
  };
}

Gram merged(const Gram& a, const Gram& b) {
  const auto n = a.n + b.n;
  const auto difference = b.mean - a.mean;
  return {n, a.mean + difference * (b.n / n),
          a.scatter + b.scatter + at::outer(difference, difference) * (a.n * (b.n / n))};
}

}  // namespace

PcaSolver PCA::solver_for(const Rows& x) const {
  if (options_.solver != PcaSolver::automatic) return options_.solver;
  if (x.features() <= few_features) return PcaSolver::covariance;
  const auto* count = count_of(options_);
  return count && *count < std::min(x.size(), x.features()) / 10 ? PcaSolver::randomized : PcaSolver::full;
}

namespace {

/// Returns decreasing eigenvalues of a covariance matrix, none below 0, and eigenvectors as rows, at most its rank.
RightVectors eigen_of(const Gram& sums) {
  const auto count = std::min(static_cast<std::int64_t>(sums.n), sums.mean.size(0));
  const auto [values, vectors] = at::linalg_eigh(sums.scatter / (sums.n - 1));
  return {values.flip(0).clamp_min(0).slice(0, 0, count), vectors.t().flip(0).slice(0, 0, count)};
}

}  // namespace

PCA::Spectrum PCA::spectrum_of(const Rows& x) const {
  const auto solver = solver_for(x);
  if (solver == PcaSolver::covariance) {
    const auto sums = gram("PCA.fit", x);
    const auto [variance, vectors] = eigen_of(sums);
    return {x.size(), sums.mean, variance, vectors, sums.scatter.trace().item<double>() / (sums.n - 1), true};
  }
  const auto columns = column_moments("PCA.fit", x);
  const auto mean = of_columns(columns, &Moments::mean);
  const auto squares = of_columns(columns, &Moments::m2).sum().item<double>();
  const auto freedom = static_cast<double>(x.size() - 1);
  const auto found = [&] {
    if (solver == PcaSolver::randomized) {
      const auto count = count_of(options_) ? *count_of(options_) : std::min(x.size(), x.features());
      return sketched(x, mean, {count, options_.oversamples, options_.power_iterations, options_.seed});
    }
    const bool shortens = solver == PcaSolver::hierarchical;
    return right_vectors(row_factor(x, mean, shortens ? what_matters(options_, squares) : Shorten()));
  }();
  return {x.size(), mean, found.values.square() / freedom, found.vectors, squares / freedom, solver == PcaSolver::full};
}

void PCA::learn(const Rows& x, const Spectrum& found) {
  const auto most = std::min(found.n, x.features());
  auto count = found.variance.size(0);
  if (const auto* wanted = count_of(options_)) count = *wanted;
  if (const auto* share = share_of(options_)) count = needed(found.variance, found.total, *share);
  if (wants_likeliest(options_)) count = likeliest(found.variance.contiguous(), static_cast<double>(found.n));
  const auto variance = found.variance.slice(0, 0, count);
  // If the other values are known, their sum is more accurate than a difference.
  const auto rest = found.complete ? found.variance.slice(0, count).sum().item<double>()
                                   : std::max(0.0, found.total - variance.sum().item<double>());
  const auto whole = [&](const at::Tensor& value) { return replicated(value, working_dtype(x), x.comm()); };
  fitted_ = Fitted{whole(with_signs(found.vectors.slice(0, 0, count))),
                   whole(found.mean),
                   whole(variance),
                   whole(found.total > 0 ? variance / found.total : at::zeros_like(variance)),
                   whole((variance * static_cast<double>(found.n - 1)).sqrt()),
                   count < most ? rest / static_cast<double>(most - count) : 0,
                   found.n};
}

PCA& PCA::fit(const Rows& x) {
  check_agreed("PCA.fit", x, options_);
  check_options("PCA.fit", options_, x.size(), x.features());
  learn(x, spectrum_of(x));
  sums_.reset();
  return *this;
}

PCA& PCA::partial_fit(const Rows& x) {
  constexpr auto op = "PCA.partial_fit";
  if (!fitted_) check_agreed(op, x, options_);
  if (fitted_) check_features(op, x, fitted_->mean.size());
  const auto before = sums_ ? sums_->n_samples : 0;
  check_options(op, options_, before + x.size(), x.features());
  if ((options_.solver != PcaSolver::automatic && options_.solver != PcaSolver::covariance) || (fitted_ && !sums_))
    detail::raise<ValueError>(op,
                              "got a solver or a fit that keeps no products of columns; expected covariance, and "
                              "calls of partial_fit alone");
  auto sums = gram(op, x);
  if (sums_) sums = merged({static_cast<double>(before), wide(sums_->mean), wide(sums_->scatter)}, sums);
  const auto [variance, vectors] = eigen_of(sums);
  learn(x, {before + x.size(), sums.mean, variance, vectors, sums.scatter.trace().item<double>() / (sums.n - 1), true});
  sums_ =
      Sums{replicated(sums.mean, float64, x.comm()), replicated(sums.scatter, float64, x.comm()), before + x.size()};
  return *this;
}

DNDarray PCA::score_samples(const Rows& x) const {
  constexpr auto op = "PCA.score_samples";
  check_features(op, x, fitted_state("score_samples").components.shape()[1]);
  const Density density(op, *this);
  const auto column = mapped(x, 1, [&](const at::Tensor& block) { return density.of(block); });
  return as_rows(x, column.larray().select(1, 0));
}

double PCA::score(const Rows& x) const {
  constexpr auto op = "PCA.score";
  check_features(op, x, fitted_state("score").components.shape()[1]);
  check_not_empty(op, x);
  const Density density(op, *this);
  Totals totals(1);
  const auto failure = detail::failure_of([&] {
    for_blocks(x, [&](const at::Tensor& block, std::int64_t, int thread) {
      totals.of(thread)[0] += density.of(block).sum().item<double>();
    });
  });
  return totals.over_ranks(x, failure)[0] / static_cast<double>(x.size());
}

ModelState PCA::state() const {
  auto state = state_of_components();
  state.options.merge(texts_of(options_));
  if (sums_) state.arrays.insert({{"sums_mean", sums_->mean}, {"sums_scatter", sums_->scatter}});
  return state;
}

PCA PCA::from_state(const ModelState& state) {
  const StateReader read("PCA", state);
  const auto fitted = components_from(read);
  const auto features = fitted.mean.size();
  auto options = options_from<PcaOptions>(read, {"solver", "oversamples", "power_iterations", "seed"});
  if (!read.has_option("asked"))
    options.n_components = fitted.components.shape()[0];  // older states tell what was found
  PCA model(options);
  model.fitted_ = fitted;
  if (state.arrays.contains("sums_scatter"))
    model.sums_ = Sums{read.array("sums_mean", {features}).astype(float64),
                       read.array("sums_scatter", {features, features}).astype(float64), fitted.n_samples};
  return model;
}

}  // namespace heatpp

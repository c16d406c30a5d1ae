#include "../support.hpp"
#include "cdf.hpp"

#include <heatpp/random/random.hpp>

#include <cmath>
#include <functional>

namespace rnd = ht::random;
using namespace cdf;

namespace {

constexpr std::int64_t n = 20'000;
constexpr ht::ArrayOptions drawn{.dtype = ht::float64, .split = 0};
constexpr double significance = 1e-4;  // for a fixed seed: a right sampler always passes

std::vector<double> numbers(const ht::DNDarray& x) { return x.to_vector<double>(); }

/// Whether the sample follows the distribution function by the Kolmogorov-Smirnov test.
bool follows(std::vector<double> sample, const std::function<double(double)>& distribution) {
  std::ranges::sort(sample);
  const auto size = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const auto p = distribution(sample[i]), below = static_cast<double>(i) / size;
    distance = std::max({distance, p - below, below + 1 / size - p});
  }
  const auto d = distance * (std::sqrt(size) + 0.12 + 0.11 / std::sqrt(size));
  return std::isfinite(d) && 2 * std::exp(-2 * d * d) > significance;
}

/// Whether the counts of whole numbers follow the probabilities by Pearson's test.
bool counted(const std::vector<double>& sample, const std::function<double(double)>& probability, std::int64_t first,
             std::int64_t last) {
  const auto size = static_cast<double>(sample.size());
  std::vector<double> count(static_cast<std::size_t>(last - first + 1));
  double outside = 0;
  for (const auto x : sample) {
    const auto k = static_cast<std::int64_t>(x);
    if (k < first || k > last) ++outside;
    else ++count[static_cast<std::size_t>(k - first)];
  }
  double statistic = 0, got = 0, expected = 0, covered = 0;
  int cells = 0;
  const auto close_cell = [&] {
    statistic += (got - expected) * (got - expected) / expected;
    ++cells;
    got = expected = 0;
  };
  for (auto k = first; k <= last; ++k) {
    const auto p = probability(static_cast<double>(k));
    covered += p;
    got += count[static_cast<std::size_t>(k - first)];
    expected += size * p;
    if (expected >= 10 && k < last) close_cell();
  }
  got += outside;
  expected += size * (1 - covered);
  close_cell();
  return cells > 1 && 1 - gamma_p((cells - 1) / 2.0, statistic / 2) > significance;
}

}  // namespace

TEST_CASE("continuous distributions pass Kolmogorov and Smirnov's test", "[random][distributions]") {
  rnd::Generator g(77);
  CHECK(follows(numbers(g.random({n}, drawn)), [](double x) { return x; }));
  CHECK(follows(numbers(g.random({n}, {.split = 0})), [](double x) { return x; }));
  CHECK(follows(numbers(g.uniform(-2, 5, {n}, drawn)), [](double x) { return (x + 2) / 7; }));
  CHECK(follows(numbers(g.standard_normal({n}, drawn)), normal));
  CHECK(follows(numbers(g.standard_normal({n}, {.split = 0})), normal));
  CHECK(follows(numbers(g.normal(3, 0.5, {n}, drawn)), [](double x) { return normal((x - 3) / 0.5); }));
  CHECK(follows(numbers(g.lognormal(0.5, 2, {n}, drawn)), [](double x) { return normal((std::log(x) - 0.5) / 2); }));
  CHECK(follows(numbers(g.standard_exponential({n}, drawn)), [](double x) { return -std::expm1(-x); }));
  CHECK(follows(numbers(g.exponential(3, {n}, drawn)), [](double x) { return -std::expm1(-x / 3); }));
  for (const double a : {0.05, 0.5, 1.0, 2.5, 400.0}) {
    CHECK(follows(numbers(g.standard_gamma(a, {n}, drawn)), [=](double x) { return gamma_p(a, x); }));
    CHECK(follows(numbers(g.gamma(a, 2, {n}, drawn)), [=](double x) { return gamma_p(a, x / 2); }));
    CHECK(follows(numbers(g.beta(a, 1.5, {n}, drawn)), [=](double x) { return beta_i(a, 1.5, x); }));
    CHECK(follows(numbers(g.chisquare(2 * a, {n}, drawn)), [=](double x) { return gamma_p(a, x / 2); }));
    CHECK(follows(numbers(g.standard_t(2 * a, {n}, drawn)), [=](double x) { return student(2 * a, x); }));
    CHECK(follows(numbers(g.f(2 * a, 3, {n}, drawn)),
                  [=](double x) { return beta_i(a, 1.5, 2 * a * x / (2 * a * x + 3)); }));
    CHECK(follows(numbers(g.weibull(a, {n}, drawn)), [=](double x) { return -std::expm1(-std::pow(x, a)); }));
    CHECK(follows(numbers(g.pareto(a, {n}, drawn)), [=](double x) { return 1 - std::pow(1 + x, -a); }));
    CHECK(follows(numbers(g.power(a, {n}, drawn)), [=](double x) { return std::pow(x, a); }));
  }
  CHECK(follows(numbers(g.rayleigh(2, {n}, drawn)), [](double x) { return -std::expm1(-x * x / 8); }));
  CHECK(follows(numbers(g.standard_cauchy({n}, drawn)), [](double x) { return 0.5 + std::atan(x) / M_PI; }));
  CHECK(follows(numbers(g.laplace(1, 2, {n}, drawn)),
                [](double x) { return x < 1 ? std::exp((x - 1) / 2) / 2 : 1 - std::exp((1 - x) / 2) / 2; }));
  CHECK(follows(numbers(g.logistic(1, 2, {n}, drawn)), [](double x) { return 1 / (1 + std::exp((1 - x) / 2)); }));
  CHECK(follows(numbers(g.gumbel(1, 2, {n}, drawn)), [](double x) { return std::exp(-std::exp((1 - x) / 2)); }));
  CHECK(follows(numbers(g.triangular(-1, 0, 3, {n}, drawn)),
                [](double x) { return x < 0 ? (x + 1) * (x + 1) / 4 : 1 - (3 - x) * (3 - x) / 12; }));
  CHECK(follows(numbers(g.wald(2, 3, {n}, drawn)), [](double x) {
    const double root = std::sqrt(3 / x);
    return normal(root * (x / 2 - 1)) + std::exp(3.0) * normal(-root * (x / 2 + 1));
  }));
  for (const double kappa : {0.0, 1.1e-8, 1e-6, 0.3, 4.0, 1e7})
    CHECK(follows(numbers(g.vonmises(0, kappa, {n}, drawn)), [=](double x) { return von_mises(kappa, x); }));
  for (const double df : {0.5, 4.0}) {
    CHECK(follows(numbers(g.noncentral_chisquare(df, 3, {n}, drawn)), [=](double x) {
      return poisson_mixture(1.5, [=](double j) { return gamma_p(df / 2 + j, x / 2); });
    }));
    CHECK(follows(numbers(g.noncentral_f(df, 5, 3, {n}, drawn)), [=](double x) {
      return poisson_mixture(1.5, [=](double j) { return beta_i(df / 2 + j, 2.5, df * x / (df * x + 5)); });
    }));
  }
}

TEST_CASE("distributions of whole numbers pass Pearson's test", "[random][distributions]") {
  rnd::Generator g(78);
  CHECK(counted(
      numbers(g.integers(-3, 10, {n}, {.split = 0})), [](double) { return 1 / 13.0; }, -3, 9));
  for (const double lam : {0.3, 9.0, 11.0, 150.0})
    CHECK(counted(
        numbers(g.poisson(lam, {n}, {.split = 0})),
        [=](double k) { return std::exp(k * std::log(lam) - lam - std::lgamma(k + 1)); }, 0, 250));
  for (const double p : {0.02, 0.3, 0.7, 0.97}) {
    CHECK(counted(
        numbers(g.binomial(120, p, {n}, {.split = 0})),
        [=](double k) { return std::exp(log_choose(120, k) + k * std::log(p) + (120 - k) * std::log1p(-p)); }, 0, 120));
    CHECK(counted(
        numbers(g.geometric(p, {n}, {.split = 0})), [=](double k) { return p * std::pow(1 - p, k - 1); }, 1, 300));
    CHECK(counted(
        numbers(g.negative_binomial(2.5, p, {n}, {.split = 0})),
        [=](double k) {
          return std::exp(std::lgamma(k + 2.5) - std::lgamma(2.5) - std::lgamma(k + 1) + 2.5 * std::log(p) +
                          k * std::log1p(-p));
        },
        0, 600));
    CHECK(counted(
        numbers(g.logseries(p, {n}, {.split = 0})), [=](double k) { return -std::pow(p, k) / k / std::log1p(-p); }, 1,
        300));
  }
  for (const double a : {1.5, 2.0, 4.0}) {
    double zeta = 0.5 * std::pow(1e6, -a) + std::pow(1e6, 1 - a) / (a - 1);
    for (double k = 1; k < 1e6; ++k) zeta += std::pow(k, -a);
    CHECK(counted(
        numbers(g.zipf(a, {n}, {.split = 0})), [=](double k) { return std::pow(k, -a) / zeta; }, 1, 500));
  }
  for (const double sample : {6.0, 30.0, 90.0})
    CHECK(counted(
        numbers(g.hypergeometric(40, 80, sample, {n}, {.split = 0})),
        [=](double k) { return std::exp(log_choose(40, k) + log_choose(80, sample - k) - log_choose(120, sample)); },
        std::max<std::int64_t>(0, static_cast<std::int64_t>(sample) - 80),
        std::min<std::int64_t>(40, static_cast<std::int64_t>(sample))));
}

TEST_CASE("the tails of normal numbers are right", "[random][distributions]") {
  for (const auto dtype : {ht::float32, ht::float64}) {
    const auto x = rnd::Generator(5).standard_normal({4'000'000}, {.dtype = dtype, .split = 0});
    for (const double bound : {-5.0, -4.0, -3.0, 3.0, 4.0, 5.0}) {
      std::vector<std::int64_t> count{(bound < 0 ? x.larray() < bound : x.larray() > bound).sum().item<std::int64_t>()};
      ht::world().allreduce(count);
      const double expected = 4e6 * normal(-std::abs(bound));
      CHECK(std::abs(static_cast<double>(count[0]) - expected) < 4 * std::sqrt(expected));
    }
    const double mean = x.larray().sum(at::kDouble).item<double>(),
                 square = x.larray().to(at::kDouble).square().sum().item<double>();
    std::vector<double> sums{mean, square};
    ht::world().allreduce(sums);
    CHECK(std::abs(sums[0] / 4e6) < 4 / std::sqrt(4e6));
    CHECK(std::abs(sums[1] / 4e6 - 1) < 4 * std::sqrt(2 / 4e6));
  }
}

TEST_CASE("whole numbers have no bias and reach both ends", "[random][distributions]") {
  // With a plain remainder the lower half of these ranges would be twice as likely as the upper.
  for (const auto high : {std::int64_t{3} << 61, std::int64_t{3} << 30}) {
    const auto x = numbers(rnd::Generator(6).integers(high, std::nullopt, {n}, {.split = 0}));
    CHECK(follows(x, [&](double v) { return v / static_cast<double>(high); }));
  }
  const auto all = rnd::Generator(6).integers(std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max(), {n}, {.split = 0});
  CHECK(follows(numbers(all), [](double v) { return v * 0x1p-64 + 0.5; }));
  const auto few = numbers(rnd::Generator(6).integers(-1, 1, {64}, {.split = 0}));
  CHECK(std::ranges::count(few, -1.0) + std::ranges::count(few, 0.0) == 64);
}

TEST_CASE("parameters at the ends of their ranges", "[random][distributions]") {
  rnd::Generator g(1);
  CHECK(same(g.exponential(0, {5}, {.split = 0}), at::zeros({5})));
  CHECK(same(g.binomial(10, 1, {5}, {.split = 0}), at::full({5}, 10, at::kLong)));
  CHECK(same(g.binomial(10, 0, {5}), at::zeros({5}, at::kLong)));
  CHECK(same(g.poisson(0, {5}), at::zeros({5}, at::kLong)));
  CHECK(same(g.geometric(1, {5}), at::ones({5}, at::kLong)));
  CHECK(same(g.negative_binomial(3, 1, {5}), at::zeros({5}, at::kLong)));
  CHECK(same(g.standard_gamma(0, {5}), at::zeros({5})));
  CHECK(same(g.hypergeometric(5, 0, 3, {4}), at::full({4}, 3, at::kLong)));
  const auto tiny = numbers(g.beta(1e-5, 1e-5, {100}));
  CHECK(std::ranges::all_of(tiny, [](double x) { return x >= 0 && x <= 1; }));
  const auto many = numbers(g.poisson(1e15, {100}));
  CHECK(std::ranges::all_of(many, [](double x) { return std::abs(x - 1e15) < 2e8; }));
}

TEST_CASE("large numbers of trials and events keep their distribution", "[random][distributions]") {
  rnd::Generator g(9);
  const auto nearly_normal = [](const ht::DNDarray& x, double mean, double deviation) {
    return follows(numbers(x), [=](double k) { return normal((k - mean) / deviation); });
  };
  for (const double trials : {1e13, 1e16, 4e18})
    for (const double p : {0.5, 0.001, 0.9})
      CHECK(nearly_normal(g.binomial(trials, p, {n}, {.split = 0}), trials * p, std::sqrt(trials * p * (1 - p))));
  for (const double lam : {1e13, 1e16, 4e18})
    CHECK(nearly_normal(g.poisson(lam, {n}, {.split = 0}), lam, std::sqrt(lam)));
  for (const double a : {1e10, 1e27}) CHECK(nearly_normal(g.standard_gamma(a, {n}, drawn), a, std::sqrt(a)));
  for (const double each : {1e13, 4e15})
    CHECK(nearly_normal(g.hypergeometric(each, each, each / 2, {n}, {.split = 0}), each / 4, std::sqrt(each * 3 / 32)));
}

TEST_CASE("distributions near the ends of their parameters", "[random][distributions]") {
  rnd::Generator g(10);
  // Up to 2^63, k has a probability of 1 / k up to a factor.
  const auto zipf = numbers(g.zipf(1 + 1e-15, {n}, {.split = 0}));
  double logarithms = 0;
  for (const auto k : zipf) logarithms += std::log(k) / n;
  CHECK(std::abs(logarithms - 21.55) < 0.4);
  CHECK(std::abs(static_cast<double>(std::ranges::count(zipf, 1.0)) / n - 1 / 44.245) < 0.005);
  const auto series = numbers(g.logseries(1 - 0x1p-53, {n}, {.split = 0}));
  CHECK(std::abs(static_cast<double>(std::ranges::count(series, 1.0)) / n - 1 / 36.74) < 0.005);
  CHECK(follows(numbers(g.wald(1e200, 1, {n}, drawn)), [](double x) { return std::erfc(std::sqrt(0.5 / x)); }));
  for (const auto dtype : {ht::float16, ht::bfloat16})
    CHECK(gathered(g.random({100 * n}, {.dtype = dtype, .split = 0})).max().item<double>() < 1);
}

TEST_CASE("NaN parameters give NaN where numbers are not whole", "[random]") {
  rnd::Generator g(1);
  const auto nan = at::full({3}, NAN);
  CHECK(same(g.exponential(NAN, {3}, {.split = 0}), nan));
  CHECK(same(g.gamma(2, NAN, {3}), nan));
  CHECK(same(g.normal(0, NAN, {3}), nan));
  CHECK(same(g.vonmises(NAN, 1, {3}), nan));
  const auto scale = at::tensor({1.0, NAN, 2.0}, at::kDouble);
  for (const auto& layout : every_layout({3})) {
    rnd::Generator some(4), all(4);
    const auto x = gathered(some.laplace(0, distribute(scale, layout)));
    auto y = gathered(all.laplace(0, ht::array({1.0, 5.0, 2.0}))).clone();
    y[1] = NAN;
    CHECK(near_to(x, y, 0, 0, /*equal_nan=*/true));
  }
  CHECK_THROWS_AS(g.poisson(NAN), ht::ValueError);
  CHECK_THROWS_AS(g.uniform(NAN, 1), ht::ValueError);
  CHECK_THROWS_AS(g.exponential(std::complex<double>(1, 2)), ht::TypeError);
  CHECK_THROWS_AS(g.normal(ht::ones({2}, {.dtype = ht::complex64, .split = 0}), 1), ht::TypeError);
}

TEST_CASE("infinite parameters end at once", "[random]") {
  ht::random::Generator g(5);
  CHECK(same(g.standard_gamma(INFINITY, {3}, {.split = 0}), at::full({3}, INFINITY)));
  CHECK(same(g.chisquare(INFINITY, {3}), at::full({3}, INFINITY)));
  CHECK(same(g.beta(INFINITY, 1, {3}), at::ones({3})));
  CHECK(same(g.zipf(1e4, {3}), at::ones({3}, at::kLong)));
  CHECK(same(g.noncentral_chisquare(0.5, INFINITY, {3}), at::full({3}, INFINITY)));
  CHECK(same(g.noncentral_chisquare(3, INFINITY, {3}), at::full({3}, INFINITY)));
  CHECK_THROWS_AS(g.negative_binomial(5, 1e-300), ht::ValueError);
}

TEST_CASE("parameters may be arrays without axes", "[random]") {
  rnd::Generator g(1), h(1);
  CHECK(same(g.normal(ht::full({}, 3.0), 1.0), gathered(h.normal(3.0, 1.0))));
}

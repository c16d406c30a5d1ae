#pragma once

#include <algorithm>
#include <array>
#include <heatpp/random/detail/continuous.hpp>
#include <limits>

// Samplers of the distributions of whole numbers.
namespace heatpp::random::detail {

/// Returns a whole number as int64; one that does not fit becomes the largest, as in NumPy.
inline std::int64_t saturated(double x) {
  return x < 0x1p63 ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int64_t>::max();
}

/// log k! of small numbers; their sums are accurate to nine decimals, which is enough to accept or reject.
inline const auto log_factorials = [] {
  std::array<double, 1024> table{};
  for (std::size_t k = 1; k < table.size(); ++k) table[k] = table[k - 1] + std::log(static_cast<double>(k));
  return table;
}();

/// Returns log k! - k log k + k, by Stirling's series if that is exact. Sums of log k! would lose the digits in which
/// neighbors differ.
inline double stirling_rest(double k) {
  if (k >= 16) return std::log(2 * pi * k) / 2 + (1.0 / 12 - (1.0 / 360 - 1 / (1260 * k * k)) / (k * k)) / k;
  return k == 0 ? 0 : log_factorials[static_cast<std::size_t>(k)] - k * std::log(k) + k;
}

/// Returns k log(k / mean) + mean - k: Loader, "Fast and accurate computation of binomial probabilities" (2000).
inline double deviance(double k, double mean) {
  const double t = (k - mean) / mean;
  return mean * (t > -1 ? (1 + t) * std::log1p(t) - t : 1);
}

/// Counts up until the distribution function reaches a uniform number: Devroye (1986), III.2. `p` is the probability of
/// 0, ratio(k) that of k + 1 divided by that of k; numbers beyond `last` are too unlikely.
template <class F>
std::int64_t by_inversion(Draws& d, double p, double last, F ratio) {
  for (;;) {
    double u = d.uniform(), probability = p;
    for (double k = 0; k <= last; ++k) {
      if (u <= probability) return static_cast<std::int64_t>(k);
      u -= probability;
      probability *= ratio(k);
    }
  }
}

struct Poisson {
  static constexpr double largest = 9.2e18;
  static constexpr auto expected = "0 <= lam <= 9.2e18";
  static bool valid(double lam) { return lam >= 0 && lam <= largest; }
  static std::int64_t draw(Draws& d, double lam) { return lam < 10 ? small(d, lam) : large(d, lam); }

 private:
  static std::int64_t small(Draws& d, double lam) {
    return by_inversion(d, std::exp(-lam), 128, [=](double k) { return lam / (k + 1); });
  }
  /// This is transformed rejection with squeeze: Hörmann (1993), PTRS.
  static std::int64_t large(Draws& d, double lam) {
    const double b = 0.931 + 2.53 * std::sqrt(lam), a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
      const double u = d.uniform() - 0.5, v = d.uniform(), us = 0.5 - std::fabs(u);
      const double k = std::floor((2 * a / us + b) * u + lam + 0.43);
      if (us >= 0.07 && v <= sure) return saturated(k);
      if (k < 0 || (us < 0.013 && v > us)) continue;
      if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= -stirling_rest(k) - deviance(k, lam))
        return saturated(k);
    }
  }
};

struct Binomial {
  static constexpr auto expected = "n >= 0, 0 <= p <= 1";
  static bool valid(double n, double p) { return n >= 0 && n < 0x1p63 && p >= 0 && p <= 1; }
  static std::int64_t draw(Draws& d, double n, double p) {
    n = std::floor(n);
    if (p > 0.5) return static_cast<std::int64_t>(n) - draw(d, n, 1 - p);
    if (p == 0 || n == 0) return 0;
    return n * p < 10 ? small(d, n, p) : large(d, n, p);
  }

 private:
  static std::int64_t small(Draws& d, double n, double p) {
    const double odds = p / (1 - p);
    return by_inversion(d, std::exp(n * std::log1p(-p)), std::min(n, 128.0),
                        [=](double k) { return (n - k) / (k + 1) * odds; });
  }
  /// This is transformed rejection with squeeze: Hörmann (1993), BTRS.
  static std::int64_t large(Draws& d, double n, double p) {
    const double spread = std::sqrt(n * p * (1 - p)), mode = std::floor((n + 1) * p);
    const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double alpha = (2.83 + 5.1 / b) * spread, sure = 0.92 - 4.2 / b;
    const auto weight = [=](double k) {
      return stirling_rest(k) + stirling_rest(n - k) + deviance(k, n * p) + deviance(n - k, n * (1 - p));
    };
    for (;;) {
      const double u = d.uniform() - 0.5, v = d.uniform(), us = 0.5 - std::fabs(u);
      const double k = std::floor((2 * a / us + b) * u + n * p + 0.5);
      if (us >= 0.07 && v <= sure) return static_cast<std::int64_t>(k);
      if (k < 0 || k > n) continue;
      if (std::log(v * alpha / (a / (us * us) + b)) <= weight(mode) - weight(k)) return static_cast<std::int64_t>(k);
    }
  }
};

struct NegativeBinomial {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "n > 0, 0 < p <= 1 and a mean of at most 9.2e18 ten deviations on";
  static bool valid(double n, double p) {
    return n > 0 && p > 0 && p <= 1 && (1 - p) / p * (n + 10 * std::sqrt(n)) <= Poisson::largest;
  }
  static std::int64_t draw(Draws& d, double n, double p) {
    return Poisson::draw(d, std::min(gamma_draw(d, n) * (1 - p) / p, Poisson::largest));
  }
};

struct Geometric {
  static constexpr auto first = First::exponential;
  static constexpr auto expected = "0 < p <= 1";
  static bool valid(double p) { return p > 0 && p <= 1; }
  static std::int64_t draw(Draws& d, double p) {
    return p == 1 ? 1 : saturated(std::floor(-d.exponential() / std::log1p(-p)) + 1);
  }
};

struct Zipf {
  static constexpr auto expected = "a > 1";
  static bool valid(double a) { return a > 1; }
  /// This is Devroye (1986), X.6, for numbers below 2^63 only; for a near 1 hardly any would be.
  static std::int64_t draw(Draws& d, double a) {
    constexpr double log_2 = 0.69314718055994530942;
    const double above = a - 1, b = std::expm1(above * log_2), reach = -std::expm1(-63 * log_2 * above);
    if (std::isinf(b)) return 1;
    for (;;) {
      const double x = std::floor(std::exp(std::log1p(-reach * d.uniform()) / -above)), v = d.uniform();
      if (x >= 0x1p63) continue;
      const double t = std::expm1(above * std::log1p(1 / x));
      if (v * x * t / b <= (t + 1) / (b + 1)) return static_cast<std::int64_t>(x);
    }
  }
};

struct Logseries {
  static constexpr auto expected = "0 <= p < 1";
  static bool valid(double p) { return p >= 0 && p < 1; }
  /// This is Kemp (1981): a geometric number with a random parameter.
  static std::int64_t draw(Draws& d, double p) {
    if (p == 0) return 1;
    const double v = d.uniform(), x = std::log1p(-p) * d.uniform();
    const double log_q = x > -0.5 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));  // of q = 1 - exp(x)
    return saturated(std::max(1.0, std::floor(1 + std::log(v) / log_q)));
  }
};

struct Hypergeometric {
  static constexpr auto expected = "ngood >= 0, nbad >= 0, 0 <= nsample <= ngood + nbad";
  static bool valid(double good, double bad, double sample) {
    const double all = std::floor(good) + std::floor(bad);
    return good >= 0 && bad >= 0 && sample >= 0 && std::floor(sample) <= all && all < 0x1p53;
  }
  static std::int64_t draw(Draws& d, double good, double bad, double sample) {
    good = std::floor(good), bad = std::floor(bad), sample = std::floor(sample);
    if (2 * sample > good + bad) return static_cast<std::int64_t>(good) - draw(d, good, bad, good + bad - sample);
    if (good > bad) return static_cast<std::int64_t>(sample) - draw(d, bad, good, sample);
    if (good == 0) return 0;
    return sample < 10 ? small(d, good, bad, sample) : large(d, good, bad, sample);
  }

 private:
  static std::int64_t small(Draws& d, double good, double bad, double sample) {
    double left = good;
    for (double all = good + bad; sample > 0 && left > 0; --sample, --all)
      if (d.uniform() * all < left) --left;
    return static_cast<std::int64_t>(good - left);
  }
  /// This is the ratio of uniforms: Stadlober (1990), HRUA. Here good <= bad and 2 sample <= good + bad.
  static std::int64_t large(Draws& d, double good, double bad, double sample) {
    const double all = good + bad, p = good / all, mean = sample * p, q = sample / all;
    const double spread = std::sqrt((all - sample) * sample * p * (1 - p) / (all - 1) + 0.5);
    const double height = 1.7155277699214135 * spread + 0.8989161620588988;  // 2 sqrt(2 / e), 3 - 2 sqrt(3 / e)
    const double mode = std::floor((sample + 1) * (good + 1) / (all + 2));
    const auto part = [=](double k, double n, double share) { return stirling_rest(k) + deviance(k, n * share); };
    const auto factorial = [](double k) { return log_factorials[static_cast<std::size_t>(k)]; };
    const bool few = all < static_cast<double>(log_factorials.size());
    const auto weight = [&](double k) {
      if (few) return factorial(k) + factorial(good - k) + factorial(sample - k) + factorial(bad - sample + k);
      return part(k, good, q) + part(good - k, good, 1 - q) + part(sample - k, bad, q) +
             part(bad - sample + k, bad, 1 - q);
    };
    const double top = weight(mode);
    for (;;) {
      const double u = d.uniform(), v = d.uniform();
      const double k = std::floor(mean + 0.5 + height * (v - 0.5) / u);
      if (k < 0 || k > std::min(sample, good)) continue;
      const double rest = top - weight(k);
      if (u * (u - rest) >= 1) continue;  // 2 log(u) lies between u - 1 / u and u (4 - u) - 3
      if (u * (4 - u) - 3 <= rest || 2 * std::log(u) <= rest) return static_cast<std::int64_t>(k);
    }
  }
};

inline double NoncentralChisquare::draw(Draws& d, double df, double nonc) {
  // Beyond Poisson's numbers, df changes nonc by less than its last digit.
  if (df > 1 || nonc / 2 > Poisson::largest) {
    const double shifted = d.normal() + std::sqrt(nonc);
    return (df > 1 ? 2 * gamma_draw(d, (df - 1) / 2) : 0) + shifted * shifted;
  }
  return 2 * gamma_draw(d, df / 2 + static_cast<double>(Poisson::draw(d, nonc / 2)));
}

}  // namespace heatpp::random::detail

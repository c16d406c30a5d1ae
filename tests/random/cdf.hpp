#pragma once

#include <cmath>

// Distribution functions that samples are tested against.
namespace cdf {

inline double normal(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// Returns the regularized lower incomplete gamma function: series, or Lentz's continued fraction.
inline double gamma_p(double a, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double k = 1; std::abs(term) > 1e-15 * sum; ++k) sum += term *= x / (a + k);
    return front * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, value = d;
  for (double k = 1; k < 10000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    value *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return 1 - front * value;
}

/// Returns the regularized incomplete beta function, by its continued fraction.
inline double beta_i(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_i(b, a, 1 - x);
  double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;
  for (double m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d), c = 1 + even / c, value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d), c = 1 + odd / c, value *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return value * std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x)) /
         a;
}

inline double student(double df, double x) {
  const double tail = beta_i(df / 2, 0.5, df / (df + x * x)) / 2;
  return x < 0 ? tail : 1 - tail;
}

/// Integrates by Simpson's rule; for large kappa it returns the limit.
inline double von_mises(double kappa, double x) {
  if (kappa > 1e6) return normal(x * std::sqrt(kappa));
  const auto integral = [&](double from, double to) {
    constexpr int steps = 200;
    const double h = (to - from) / steps;
    double sum = 0;
    for (int i = 0; i <= steps; ++i)
      sum += (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2) * std::exp(kappa * (std::cos(from + i * h) - 1));
    return sum * h / 3;
  };
  return integral(-M_PI, x) / integral(-M_PI, M_PI);
}

/// Returns the average of f(j) over Poisson's distribution of j.
template <class F>
double poisson_mixture(double mean, F f) {
  double sum = 0;
  for (double j = 0; j < 60; ++j) sum += std::exp(j * std::log(mean) - mean - std::lgamma(j + 1)) * f(j);
  return sum;
}

inline double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace cdf

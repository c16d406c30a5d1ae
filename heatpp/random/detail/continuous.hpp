#pragma once

#include <heatpp/random/detail/draws.hpp>

// Samplers of the continuous distributions: `valid` checks the parameters, `draw` gives one number.
namespace heatpp::random::detail {

struct StandardExponential {
  static constexpr auto expected = "";
  static bool valid() { return true; }
  static double draw(Draws& d) { return d.exponential(); }
};

struct Exponential {
  static constexpr auto expected = "scale >= 0";
  static bool valid(double scale) { return not_negative(scale); }
  static double draw(Draws& d, double scale) { return scale * d.exponential(); }
};

/// A standard gamma number as a (1 + rest) exp(-boost), whose logarithm underflows later than the number: Marsaglia,
/// Tsang (2000).
struct GammaDraw {
  double a, rest, boost;
  [[nodiscard]] double value() const { return boost == 0 ? a + a * rest : (a + a * rest) * std::exp(-boost); }
  [[nodiscard]] double log() const { return std::log(a) + std::log1p(rest) - boost; }
  /// Whether products and ratios of such numbers keep all their digits.
  [[nodiscard]] bool moderate() const { return boost == 0 && a > 0 && a < 1e100; }
};
inline GammaDraw draw_gamma(Draws& d, double shape) {
  if (shape == 0 || std::isinf(shape)) return {shape, 1, 0};
  // This uses Gamma(a) = Gamma(a + 1) * U^(1/a).
  const auto boost = [&] { return shape < 1 ? d.exponential() / shape : 0; };
  const double a = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * a);
  for (;;) {
    const double x = d.normal(), t = c * x;
    if (t <= -1) continue;
    const double rest = t * (3 + t * (3 + t)), u = d.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x)) return {a, rest, boost()};
    // This is log(v) - v + 1 for v = (1 + t)^3, without the digits that cancel if v is nearly 1.
    const double difference = 3 * (std::log1p(t) - t - t * t) - t * t * t;
    if (std::log(u) < 0.5 * x * x + a * difference) return {a, rest, boost()};
  }
}
inline double gamma_draw(Draws& d, double shape) { return draw_gamma(d, shape).value(); }

/// Returns x / y, also if both are too small for a double.
inline double ratio(const GammaDraw& x, const GammaDraw& y) {
  return x.moderate() && y.moderate() ? x.value() / y.value() : std::exp(x.log() - y.log());
}

struct StandardGamma {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "shape >= 0";
  static bool valid(double shape) { return not_negative(shape); }
  static double draw(Draws& d, double shape) { return gamma_draw(d, shape); }
};

struct Gamma {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "shape >= 0, scale >= 0";
  static bool valid(double shape, double scale) { return not_negative(shape) && not_negative(scale); }
  static double draw(Draws& d, double shape, double scale) { return scale * gamma_draw(d, shape); }
};

struct Beta {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "a > 0, b > 0";
  static bool valid(double a, double b) { return a > 0 && b > 0; }
  static double draw(Draws& d, double a, double b) {
    const auto x = draw_gamma(d, a), y = draw_gamma(d, b);
    if (std::fmax(x.boost, y.boost) == INFINITY && std::fmax(x.log(), y.log()) == -INFINITY)
      return d.uniform() < a / (a + b) ? 1 : 0;
    return 1 / (1 + ratio(y, x));
  }
};

struct Chisquare {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "df > 0";
  static bool valid(double df) { return df > 0; }
  static double draw(Draws& d, double df) { return 2 * gamma_draw(d, df / 2); }
};

struct NoncentralChisquare {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "df > 0, nonc >= 0";
  static bool valid(double df, double nonc) { return df > 0 && not_negative(nonc); }
  static double draw(Draws& d, double df, double nonc);  // defined with the Poisson sampler
};

struct F {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "dfnum > 0, dfden > 0";
  static bool valid(double n, double m) { return n > 0 && m > 0; }
  static double draw(Draws& d, double n, double m) {
    const auto x = draw_gamma(d, n / 2), y = draw_gamma(d, m / 2);
    return ratio(x, y) * m / n;
  }
};

struct NoncentralF {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "dfnum > 0, dfden > 0, nonc >= 0";
  static bool valid(double n, double m, double nonc) { return n > 0 && m > 0 && not_negative(nonc); }
  static double draw(Draws& d, double n, double m, double nonc) {
    const double x = NoncentralChisquare::draw(d, n, nonc);
    return x / n / (Chisquare::draw(d, m) / m);
  }
};

struct StandardT {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "df > 0";
  static bool valid(double df) { return df > 0; }
  static double draw(Draws& d, double df) {
    const double z = d.normal();
    const auto x = draw_gamma(d, df / 2);
    return z * (x.moderate() ? 1 / std::sqrt(x.value()) : std::exp(-x.log() / 2)) * std::sqrt(df / 2);
  }
};

struct StandardCauchy {
  static constexpr auto expected = "";
  static bool valid() { return true; }
  static double draw(Draws& d) { return std::tan(pi * (d.uniform() - 0.5)); }
};

struct Laplace {
  static constexpr auto first = First::exponential;
  static constexpr auto expected = "scale >= 0";
  static bool valid(double, double scale) { return not_negative(scale); }
  static double draw(Draws& d, double loc, double scale) {
    const double x = scale * d.exponential();
    return d.bits() >> 63 ? loc + x : loc - x;
  }
};

struct Logistic {
  static constexpr auto first = First::logit;
  static constexpr auto expected = "scale >= 0";
  static bool valid(double, double scale) { return not_negative(scale); }
  static double draw(Draws& d, double loc, double scale) { return loc + scale * d.logit(); }
};

struct Gumbel {
  static constexpr auto first = First::exponential;
  static constexpr auto expected = "scale >= 0";
  static bool valid(double, double scale) { return not_negative(scale); }
  static double draw(Draws& d, double loc, double scale) { return loc - scale * std::log(d.exponential()); }
};

struct Lognormal {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "sigma >= 0";
  static bool valid(double, double sigma) { return not_negative(sigma); }
  static double draw(Draws& d, double mean, double sigma) { return std::exp(mean + sigma * d.normal()); }
};

struct Triangular {
  static constexpr auto expected = "left <= mode <= right, left < right";
  static bool valid(double left, double mode, double right) { return left <= mode && mode <= right && left < right; }
  static double draw(Draws& d, double left, double mode, double right) {
    const double u = d.uniform(), width = right - left;
    if (u * width < mode - left) return left + std::sqrt(u * width * (mode - left));
    return right - std::sqrt((1 - u) * width * (right - mode));
  }
};

struct Weibull {
  static constexpr auto first = First::exponential;
  static constexpr auto expected = "a >= 0";
  static bool valid(double a) { return not_negative(a); }
  static double draw(Draws& d, double a) { return a == 0 ? 0 : std::pow(d.exponential(), 1 / a); }
};

struct Pareto {
  static constexpr auto first = First::exponential;
  static constexpr auto expected = "a > 0";
  static bool valid(double a) { return a > 0; }
  static double draw(Draws& d, double a) { return std::expm1(d.exponential() / a); }
};

struct Power {
  static constexpr auto first = First::exponential;
  static constexpr auto expected = "a > 0";
  static bool valid(double a) { return a > 0; }
  static double draw(Draws& d, double a) { return std::exp(-d.exponential() / a); }
};

struct Rayleigh {
  static constexpr auto first = First::exponential;
  static constexpr auto expected = "scale >= 0";
  static bool valid(double scale) { return not_negative(scale); }
  static double draw(Draws& d, double scale) { return scale * std::sqrt(2 * d.exponential()); }
};

struct Vonmises {
  static constexpr auto expected = "kappa >= 0";
  static bool valid(double, double kappa) { return not_negative(kappa); }
  /// This is Best, Fisher (1979); small and large kappa use their limits, a uniform and a normal number.
  static double draw(Draws& d, double mu, double kappa) {
    double angle = 0;
    if (kappa < 1e-8) angle = pi * (2 * d.uniform() - 1);
    else if (kappa > 1e6) angle = d.normal() / std::sqrt(kappa);
    else {
      const double r = 1 + std::sqrt(1 + 4 * kappa * kappa), rho = (r - std::sqrt(2 * r)) / (2 * kappa);
      // For small kappa, rho would be a rounding error; this is its series.
      const double s = kappa < 1e-5 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
      double cosine = 0, y = 0;
      do {
        const double z = std::cos(pi * d.uniform());
        cosine = (1 + s * z) / (s + z);
        y = kappa * (s - cosine);
        const double v = d.uniform();
        if (y * (2 - y) > v || std::log(y / v) + 1 >= y) break;
      } while (true);
      angle = std::acos(std::fmin(1, std::fmax(-1, cosine)));
      if (d.bits() >> 63) angle = -angle;
    }
    return std::remainder(mu + angle, 2 * pi);
  }
};

struct Wald {
  static constexpr auto first = First::normals;
  static constexpr auto expected = "mean > 0, scale > 0";
  static bool valid(double mean, double scale) { return mean > 0 && scale > 0; }
  /// This is Michael, Schucany, Haas (1976).
  static double draw(Draws& d, double mean, double scale) {
    const double z = d.normal(), y = mean * z * z;
    // This form of the smaller root has no cancellation and no square of y, which overflows.
    const double x = mean / (1 + (y + std::sqrt(y) * std::sqrt(4 * scale + y)) / (2 * scale));
    return d.uniform() <= mean / (mean + x) ? x : mean * mean / x;
  }
};

}  // namespace heatpp::random::detail

#pragma once

#include <heatpp/random/generator.hpp>

// Distributions, drawn from the default generator. See Generator for their common rules.
namespace heatpp::random {

/// Draws with density exp(-x).
[[nodiscard]] DNDarray standard_exponential(const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws ratios of two normal numbers (Cauchy).
[[nodiscard]] DNDarray standard_cauchy(const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws with density exp(-x / scale) / scale.
[[nodiscard]] DNDarray exponential(const Operand& scale = 1.0, const Shape& shape = {},
                                   const ArrayOptions& options = {});

/// Draws with density x^(gamma_shape - 1) exp(-x) up to a factor.
[[nodiscard]] DNDarray standard_gamma(const Operand& gamma_shape, const Shape& shape = {},
                                      const ArrayOptions& options = {});

/// Draws sums of df squared normal numbers.
[[nodiscard]] DNDarray chisquare(const Operand& df, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws Student's t with df degrees of freedom.
[[nodiscard]] DNDarray standard_t(const Operand& df, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws standard exponential numbers to the power 1 / a.
[[nodiscard]] DNDarray weibull(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws with density a (1 + x)^(-a - 1) (Lomax).
[[nodiscard]] DNDarray pareto(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws with density a x^(a - 1) on (0, 1).
[[nodiscard]] DNDarray power(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws lengths of vectors of two normal numbers with deviation scale.
[[nodiscard]] DNDarray rayleigh(const Operand& scale = 1.0, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws standard gamma numbers times scale.
[[nodiscard]] DNDarray gamma(const Operand& gamma_shape, const Operand& scale = 1.0, const Shape& shape = {},
                             const ArrayOptions& options = {});

/// Draws with density x^(a - 1) (1 - x)^(b - 1) up to a factor, on (0, 1).
[[nodiscard]] DNDarray beta(const Operand& a, const Operand& b, const Shape& shape = {},
                            const ArrayOptions& options = {});

/// Draws sums of df squared normal numbers whose squared means sum to nonc.
[[nodiscard]] DNDarray noncentral_chisquare(const Operand& df, const Operand& nonc, const Shape& shape = {},
                                            const ArrayOptions& options = {});

/// Draws ratios of two chi-square numbers, each over its degrees of freedom.
[[nodiscard]] DNDarray f(const Operand& dfnum, const Operand& dfden, const Shape& shape = {},
                         const ArrayOptions& options = {});

/// Draws with density exp(-|x - loc| / scale) / (2 scale).
[[nodiscard]] DNDarray laplace(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                               const ArrayOptions& options = {});

/// Draws with distribution function 1 / (1 + exp(-(x - loc) / scale)).
[[nodiscard]] DNDarray logistic(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                                const ArrayOptions& options = {});

/// Draws with distribution function exp(-exp(-(x - loc) / scale)).
[[nodiscard]] DNDarray gumbel(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                              const ArrayOptions& options = {});

/// Draws exp of normal numbers with mean `mean` and deviation sigma.
[[nodiscard]] DNDarray lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const Shape& shape = {},
                                 const ArrayOptions& options = {});

/// Draws with density exp(kappa cos(x - mu)) up to a factor, on [-pi, pi].
[[nodiscard]] DNDarray vonmises(const Operand& mu, const Operand& kappa, const Shape& shape = {},
                                const ArrayOptions& options = {});

/// Draws from the inverse Gaussian distribution.
[[nodiscard]] DNDarray wald(const Operand& mean, const Operand& scale, const Shape& shape = {},
                            const ArrayOptions& options = {});

/// Draws with a density that rises from left to mode and falls to right.
[[nodiscard]] DNDarray triangular(const Operand& left, const Operand& mode, const Operand& right,
                                  const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws as `f`, with a noncentral chi-square number as numerator.
[[nodiscard]] DNDarray noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc,
                                    const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws numbers of events in an interval that has lam on average, as int64.
[[nodiscard]] DNDarray poisson(const Operand& lam = 1.0, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws numbers of trials up to the first success, as int64.
[[nodiscard]] DNDarray geometric(const Operand& p, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws k >= 1 with probability k^-a up to a factor, as int64.
[[nodiscard]] DNDarray zipf(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws k >= 1 with probability p^k / k up to a factor, as int64.
[[nodiscard]] DNDarray logseries(const Operand& p, const Shape& shape = {}, const ArrayOptions& options = {});

/// Draws numbers of successes in n trials, as int64.
[[nodiscard]] DNDarray binomial(const Operand& n, const Operand& p, const Shape& shape = {},
                                const ArrayOptions& options = {});

/// Draws numbers of failures before the n-th success, as int64.
[[nodiscard]] DNDarray negative_binomial(const Operand& n, const Operand& p, const Shape& shape = {},
                                         const ArrayOptions& options = {});

/// Draws numbers of good ones among nsample drawn without replacement, as int64.
[[nodiscard]] DNDarray hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample,
                                      const Shape& shape = {}, const ArrayOptions& options = {});

}  // namespace heatpp::random

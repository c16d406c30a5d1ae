#include <heatpp/random/distributions.hpp>

#include <heatpp/random/detail/discrete.hpp>
#include <heatpp/random/detail/sample.hpp>

namespace heatpp::random {

// HEATPP_RANDOM2(name, sampler) defines a method of Generator with two parameters, and a function that calls it.
#define HEATPP_RANDOM0(name, sampler)                                            \
  DNDarray Generator::name(const Shape& shape, const ArrayOptions& options) {    \
    return detail::sample<detail::sampler, 0>(*this, #name, {}, shape, options); \
  }                                                                              \
  DNDarray name(const Shape& shape, const ArrayOptions& options) { return default_generator().name(shape, options); }
#define HEATPP_RANDOM1(name, sampler)                                                           \
  DNDarray Generator::name(const Operand& p, const Shape& shape, const ArrayOptions& options) { \
    return detail::sample<detail::sampler, 1>(*this, #name, {p}, shape, options);               \
  }                                                                                             \
  DNDarray name(const Operand& p, const Shape& shape, const ArrayOptions& options) {            \
    return default_generator().name(p, shape, options);                                         \
  }
#define HEATPP_RANDOM2(name, sampler)                                                                             \
  DNDarray Generator::name(const Operand& p, const Operand& q, const Shape& shape, const ArrayOptions& options) { \
    return detail::sample<detail::sampler, 2>(*this, #name, {p, q}, shape, options);                              \
  }                                                                                                               \
  DNDarray name(const Operand& p, const Operand& q, const Shape& shape, const ArrayOptions& options) {            \
    return default_generator().name(p, q, shape, options);                                                        \
  }
#define HEATPP_RANDOM3(name, sampler)                                                                \
  DNDarray Generator::name(const Operand& p, const Operand& q, const Operand& r, const Shape& shape, \
                           const ArrayOptions& options) {                                            \
    return detail::sample<detail::sampler, 3>(*this, #name, {p, q, r}, shape, options);              \
  }                                                                                                  \
  DNDarray name(const Operand& p, const Operand& q, const Operand& r, const Shape& shape,            \
                const ArrayOptions& options) {                                                       \
    return default_generator().name(p, q, r, shape, options);                                        \
  }
HEATPP_RANDOM0(standard_exponential, StandardExponential)
HEATPP_RANDOM0(standard_cauchy, StandardCauchy)
HEATPP_RANDOM1(exponential, Exponential)
HEATPP_RANDOM1(standard_gamma, StandardGamma)
HEATPP_RANDOM1(chisquare, Chisquare)
HEATPP_RANDOM1(standard_t, StandardT)
HEATPP_RANDOM1(weibull, Weibull)
HEATPP_RANDOM1(pareto, Pareto)
HEATPP_RANDOM1(power, Power)
HEATPP_RANDOM1(rayleigh, Rayleigh)
HEATPP_RANDOM2(gamma, Gamma)
HEATPP_RANDOM2(beta, Beta)
HEATPP_RANDOM2(noncentral_chisquare, NoncentralChisquare)
HEATPP_RANDOM2(f, F)
HEATPP_RANDOM2(laplace, Laplace)
HEATPP_RANDOM2(logistic, Logistic)
HEATPP_RANDOM2(gumbel, Gumbel)
HEATPP_RANDOM2(lognormal, Lognormal)
HEATPP_RANDOM2(vonmises, Vonmises)
HEATPP_RANDOM2(wald, Wald)
HEATPP_RANDOM3(triangular, Triangular)
HEATPP_RANDOM3(noncentral_f, NoncentralF)
HEATPP_RANDOM1(poisson, Poisson)
HEATPP_RANDOM1(geometric, Geometric)
HEATPP_RANDOM1(zipf, Zipf)
HEATPP_RANDOM1(logseries, Logseries)
HEATPP_RANDOM2(binomial, Binomial)
HEATPP_RANDOM2(negative_binomial, NegativeBinomial)
HEATPP_RANDOM3(hypergeometric, Hypergeometric)
#undef HEATPP_RANDOM0
#undef HEATPP_RANDOM1
#undef HEATPP_RANDOM2
#undef HEATPP_RANDOM3

}  // namespace heatpp::random

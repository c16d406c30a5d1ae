#include <heatpp/random/detail/discrete.hpp>
#include <heatpp/random/detail/sample.hpp>

namespace heatpp::random {

#define HEATPP_RANDOM0(name, sampler, doc)                                       \
  DNDarray Generator::name(const Shape& shape, const ArrayOptions& options) {    \
    return detail::sample<detail::sampler, 0>(*this, #name, {}, shape, options); \
  }
#define HEATPP_RANDOM1(name, sampler, p, p_default, doc)                                        \
  DNDarray Generator::name(const Operand& p, const Shape& shape, const ArrayOptions& options) { \
    return detail::sample<detail::sampler, 1>(*this, #name, {p}, shape, options);               \
  }
#define HEATPP_RANDOM2(name, sampler, p, p_default, q, q_default, doc)                                            \
  DNDarray Generator::name(const Operand& p, const Operand& q, const Shape& shape, const ArrayOptions& options) { \
    return detail::sample<detail::sampler, 2>(*this, #name, {p, q}, shape, options);                              \
  }
#define HEATPP_RANDOM3(name, sampler, p, p_default, q, q_default, r, r_default, doc)                 \
  DNDarray Generator::name(const Operand& p, const Operand& q, const Operand& r, const Shape& shape, \
                           const ArrayOptions& options) {                                            \
    return detail::sample<detail::sampler, 3>(*this, #name, {p, q, r}, shape, options);              \
  }
#include <heatpp/random/distributions.inc>
#undef HEATPP_RANDOM0
#undef HEATPP_RANDOM1
#undef HEATPP_RANDOM2
#undef HEATPP_RANDOM3

}  // namespace heatpp::random

#include <ATen/ATen.h>

#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/elementwise/detail/run_blocks.hpp>

namespace heatpp::detail::local {
namespace {

/// Returns f of the operands in one complex dtype, or g of real ones.
template <class F, class G>
at::Tensor if_complex(const at::Tensor& a, const at::Tensor& b, F f, G g) {
  const auto type = at::result_type(a, b);
  return at::isComplexType(type) ? f(a.to(type), b.to(type)) : g(a, b);
}

/// Whether a comes before b, or is equal, in NumPy's order of complex numbers. Never if an imaginary part that is not
/// compared is NaN.
at::Tensor before(const at::Tensor& a, const at::Tensor& b, bool or_equal) {
  const auto ar = at::real(a), ai = at::imag(a), br = at::real(b), bi = at::imag(b);
  const auto in_part = at::lt(ar, br).logical_and(at::isnan(ai).logical_or(at::isnan(bi)).logical_not());
  return in_part.logical_or(at::eq(ar, br).logical_and(or_equal ? at::le(ai, bi) : at::lt(ai, bi)));
}

}  // namespace

#define HEATPP_COMPARISON(name, first, second, or_equal, real)                              \
  at::Tensor name(const at::Tensor& a, const at::Tensor& b) {                               \
    return if_complex(                                                                      \
        a, b, [](const auto& x, const auto& y) { return before(first, second, or_equal); }, \
        [](const auto& x, const auto& y) { return runs::real(x, y); });                     \
  }
HEATPP_COMPARISON(less, x, y, false, lt)
HEATPP_COMPARISON(less_equal, x, y, true, le)
HEATPP_COMPARISON(greater, y, x, false, gt)
HEATPP_COMPARISON(greater_equal, y, x, true, ge)
#undef HEATPP_COMPARISON

// If either is NaN, the result is the first that is NaN.
#define HEATPP_EXTREMUM(name, first, second, kept, space)                                  \
  at::Tensor name(const at::Tensor& a, const at::Tensor& b) {                              \
    return if_complex(                                                                     \
        a, b,                                                                              \
        [](const auto& x, const auto& y) {                                                 \
          return at::where(before(first, second, true).logical_or(at::isnan(kept)), x, y); \
        },                                                                                 \
        [](const auto& x, const auto& y) { return space::name(x, y); });                   \
  }
HEATPP_EXTREMUM(maximum, y, x, x, runs)
HEATPP_EXTREMUM(minimum, x, y, x, runs)
HEATPP_EXTREMUM(fmax, y, x, y, runs)
HEATPP_EXTREMUM(fmin, x, y, y, runs)
#undef HEATPP_EXTREMUM

}  // namespace heatpp::detail::local

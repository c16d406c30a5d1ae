#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/elementwise/detail/run_loop.hpp>

#include <cmath>
#include <complex>

namespace heatpp::detail::local {
namespace {

/// Returns f of every pair of complex numbers of a dtype.
template <class F>
at::Tensor map_complex(const at::Tensor& a, const at::Tensor& b, at::ScalarType type, F f) {
  return AT_DISPATCH_COMPLEX_TYPES(type, "map_complex",
                                   [&] { return runs::map_pairs<scalar_t>(a.to(type), b.to(type), f); });
}

/// Returns 1 / z with NumPy's signs of zeros, which a product with 1 would lose.
template <class T>
c10::complex<T> inverse(const c10::complex<T>& z) {
  const auto re = z.real(), im = z.imag();
  if (std::abs(re) >= std::abs(im)) {
    const auto ratio = im / re, size = re + im * ratio;
    return {1 / size, -ratio / size};
  }
  const auto ratio = re / im, size = re * ratio + im;
  return {ratio / size, -1 / size};
}

/// Returns z to the power n, not 0, by squaring. It is exact if the numbers are, and keeps infinite parts apart.
template <class T>
c10::complex<T> whole_power(c10::complex<T> z, int n) {
  auto rest = std::abs(n);
  for (; rest % 2 == 0; rest /= 2) z = z * z;
  auto result = z;
  while (rest /= 2) {
    z = z * z;
    if (rest % 2 == 1) result = result * z;
  }
  return n < 0 ? c10::complex<T>(1) / result : result;
}

/// By NumPy's rules, 0 to a power is 0 or NaN, and small whole powers are products.
template <class T>
c10::complex<T> power_of(const c10::complex<T>& z, const c10::complex<T>& w) {
  if (w == c10::complex<T>(0)) return 1;
  if (z == c10::complex<T>(0)) return w.real() > 0 ? c10::complex<T>(0) : c10::complex<T>(NAN, NAN);
  if (w.imag() == 0 && std::abs(w.real()) < 100 && std::trunc(w.real()) == w.real())
    return whole_power(z, static_cast<int>(w.real()));
  return c10::complex<T>(std::pow(static_cast<std::complex<T>>(z), static_cast<std::complex<T>>(w)));
}

}  // namespace

at::Tensor complex_power(const at::Tensor& a, const at::Tensor& b, at::ScalarType type) {
  return map_complex(a, b, type, [](const auto& z, const auto& w) { return power_of(z, w); });
}
at::Tensor complex_reciprocal(const at::Tensor& x) {
  return map_complex(x, x, x.scalar_type(), [](const auto& z, const auto&) { return inverse(z); });
}

at::Tensor arccos(const at::Tensor& x) {
  const auto result = at::acos(x);
  if (!x.is_complex()) return result;
  return at::complex(at::real(result), at::copysign(at::imag(result), at::neg(at::imag(x))));
}
at::Tensor log1p(const at::Tensor& x) {
  return x.is_complex() ? at::where(at::isinf(x), at::log(x), at::log1p(x)) : at::log1p(x);
}

}  // namespace heatpp::detail::local

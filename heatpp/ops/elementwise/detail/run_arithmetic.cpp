#include <ATen/Dispatch.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/elementwise/detail/run_blocks.hpp>
#include <heatpp/ops/elementwise/detail/run_loop.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace heatpp::detail::runs {
namespace {

#define HEATPP_SELECTION(T, name, is_first)                                                                \
  HEATPP_SIMD void name(const T* __restrict x, const T* __restrict y, T* __restrict out, std::int64_t n) { \
    for (std::int64_t i = 0; i < n; ++i) {                                                                 \
      const T a = x[i], b = y[i];                                                                          \
      out[i] = (is_first) ? a : b;                                                                         \
    }                                                                                                      \
  }
HEATPP_SELECTION(float, larger, (a >= b) | (b != b))
HEATPP_SELECTION(double, larger, (a >= b) | (b != b))
HEATPP_SELECTION(float, smaller, (a <= b) | (b != b))
HEATPP_SELECTION(double, smaller, (a <= b) | (b != b))
HEATPP_SELECTION(float, larger_or_nan, (a >= b) | (a != a))
HEATPP_SELECTION(double, larger_or_nan, (a >= b) | (a != a))
HEATPP_SELECTION(float, smaller_or_nan, (a <= b) | (a != a))
HEATPP_SELECTION(double, smaller_or_nan, (a <= b) | (a != a))
#undef HEATPP_SELECTION

#define HEATPP_NUMBERS(T)                                                                         \
  HEATPP_SIMD void numbers(const T* __restrict x, T instead, T* __restrict out, std::int64_t n) { \
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] != x[i] ? instead : x[i];                  \
  }
HEATPP_NUMBERS(float)
HEATPP_NUMBERS(double)
#undef HEATPP_NUMBERS

#define HEATPP_SIGN(T)                                                               \
  HEATPP_SIMD void signs(const T* __restrict x, T* __restrict out, std::int64_t n) { \
    for (std::int64_t i = 0; i < n; ++i) {                                           \
      const T v = x[i], above = v > 0 ? T(1) : T(0), below = v < 0 ? T(1) : T(0);    \
      out[i] = v != v ? v : above - below;                                           \
    }                                                                                \
  }
HEATPP_SIGN(float)
HEATPP_SIGN(double)
#undef HEATPP_SIGN

/// Counts the bits of a byte by sums of neighbors, for which vector code exists.
inline __attribute__((always_inline)) std::uint8_t bits_of(std::uint8_t v) {
  v = static_cast<std::uint8_t>(v - ((v >> 1) & 0x55));
  v = static_cast<std::uint8_t>((v & 0x33) + ((v >> 2) & 0x33));
  return static_cast<std::uint8_t>((v + (v >> 4)) & 0x0f);
}
template <class Bits>
inline __attribute__((always_inline)) std::uint8_t bits_of(Bits v) {
  return static_cast<std::uint8_t>(std::popcount(v));
}

#define HEATPP_BITS(T)                                                                               \
  HEATPP_SIMD void count_bits(const T* __restrict x, std::uint8_t* __restrict out, std::int64_t n) { \
    using Bits = std::make_unsigned_t<T>;                                                            \
    for (std::int64_t i = 0; i < n; ++i) {                                                           \
      const auto bits = static_cast<Bits>(x[i]);                                                     \
      out[i] = bits_of(static_cast<Bits>(x[i] < 0 ? 0 - bits : bits));                               \
    }                                                                                                \
  }
HEATPP_BITS(std::uint8_t)
HEATPP_BITS(std::int8_t)
HEATPP_BITS(std::int16_t)
HEATPP_BITS(std::int32_t)
HEATPP_BITS(std::int64_t)
#undef HEATPP_BITS

/// Returns 2^n for exponents of normal numbers.
template <class T>
inline __attribute__((always_inline)) T power_of_two(T n) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  return std::bit_cast<T>(static_cast<Bits>(n + (Limits::max_exponent - 1)) << (Limits::digits - 1));
}
/// Returns x * 2^n. Only the last of three factors can round: if the first ones do, the result vanishes.
template <class T>
inline __attribute__((always_inline)) T scaled(T x, T n) {
  using Limits = std::numeric_limits<T>;
  constexpr T low = Limits::min_exponent - 1, up = Limits::max_exponent - 1, down = low + Limits::digits;
  for (int factor = 0; factor < 2; ++factor) {
    const T step = n < low ? down : n > up ? up : 0;
    x *= power_of_two(step);
    n -= step;
  }
  return x * power_of_two(n < low ? low : n > up ? up : n);
}

/// Returns the cube root within 0.67 units in the last place: a third of the exponent, two steps of Halley's method,
/// and one of Newton's from 26 bits, whose square is exact (W. Kahan, K. C. Ng; FreeBSD's libm).
inline __attribute__((always_inline)) double cube_root(double x) {
  constexpr double scale = 0x1p54, least = 0x1p-1000;
  const double size = std::abs(x), a = size < least ? size * scale : size;
  const auto high = static_cast<double>(std::bit_cast<std::int64_t>(a) >> 32);
  double t = std::bit_cast<double>(static_cast<std::int64_t>(high / 3 + 715094163) << 32);
  for (int step = 0; step < 2; ++step) {
    const double cube = t / 4 * t * t;
    t *= (cube + a / 2) / (2 * cube + a / 4);
  }
  t = std::bit_cast<double>(std::bit_cast<std::int64_t>(t) & ~((std::int64_t{1} << 27) - 1));
  const double r = a / (t * t);
  t += t * ((r - t) / (2 * t + r));
  t = std::copysign(size < least ? t * 0x1p-18 : t, x);
  return x == 0 || !(size <= std::numeric_limits<double>::max()) ? x : t;
}

#define HEATPP_SCALE_AND_ROOTS(T)                                                                               \
  HEATPP_SIMD void scale(const T* __restrict x, const T* __restrict power, T* __restrict out, std::int64_t n) { \
    for (std::int64_t i = 0; i < n; ++i) out[i] = scaled(x[i], power[i]);                                       \
  }                                                                                                             \
  HEATPP_SIMD void cube_roots(const T* __restrict x, T* __restrict out, std::int64_t n) {                       \
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(cube_root(x[i]));                              \
  }                                                                                                             \
  HEATPP_SIMD void square_roots(const T* __restrict x, T* __restrict out, std::int64_t n) {                     \
    for (std::int64_t i = 0; i < n; ++i) out[i] = std::sqrt(x[i]);                                              \
  }
HEATPP_SCALE_AND_ROOTS(float)
HEATPP_SCALE_AND_ROOTS(double)
#undef HEATPP_SCALE_AND_ROOTS

/// Squares of float neither overflow nor underflow in double.
HEATPP_SIMD void moduli(const float* __restrict z, float* __restrict out, std::int64_t n) {
  using Limits = std::numeric_limits<float>;
  for (std::int64_t i = 0; i < n; ++i) {
    const double re = z[2 * i], im = z[2 * i + 1];
    const auto size = static_cast<float>(std::sqrt(re * re + im * im));
    const bool infinite = (std::abs(re) > Limits::max()) | (std::abs(im) > Limits::max());
    out[i] = infinite ? Limits::infinity() : size;
  }
}

/// Writes -1 if the squares overflow or lose digits.
HEATPP_SIMD void plain_moduli(const double* __restrict z, double* __restrict out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double re = z[2 * i], im = z[2 * i + 1], sum = re * re + im * im;
    const bool plain = ((sum > 1e-280) & (sum < 1e300)) | ((re == 0) & (im == 0));
    out[i] = plain ? std::sqrt(sum) : -1;
  }
}
void moduli(const double* z, double* out, std::int64_t n) {
  plain_moduli(z, out, n);
  for (std::int64_t i = 0; i < n; ++i)
    if (out[i] < 0) out[i] = std::hypot(z[2 * i], z[2 * i + 1]);
}

template <class Kernel, class Other>
at::Tensor of_floats(const at::Tensor& a, const at::Tensor& b, Kernel kernel, Other other) {
  const auto type = at::result_type(a, b);
  if (!a.is_cpu() || !b.is_cpu()) return other(a, b);
  if (type == at::kFloat) return combine_runs<float, float>(a.to(type), b.to(type), kernel);
  return type == at::kDouble ? combine_runs<double, double>(a.to(type), b.to(type), kernel) : other(a, b);
}

}  // namespace

at::Tensor fmax(const at::Tensor& a, const at::Tensor& b) {
  return of_floats(
      a, b, [](const auto* x, const auto* y, auto* out, std::int64_t n) { larger(x, y, out, n); },
      [](const auto& x, const auto& y) { return at::fmax(x, y); });
}
at::Tensor fmin(const at::Tensor& a, const at::Tensor& b) {
  return of_floats(
      a, b, [](const auto* x, const auto* y, auto* out, std::int64_t n) { smaller(x, y, out, n); },
      [](const auto& x, const auto& y) { return at::fmin(x, y); });
}

namespace {

/// Whether both are read in runs as they are, so that the result has their order.
bool are_simple(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 1 && b.numel() == 1) return false;
  const auto& shape = a.numel() == 1 ? b.sizes() : a.sizes();
  return is_simple(a, shape) && is_simple(b, shape) &&
         shape.size() >= static_cast<std::size_t>(std::max(a.dim(), b.dim()));
}

}  // namespace

#define HEATPP_EXTREMUM(name, kernel)                                                                           \
  at::Tensor name(const at::Tensor& a, const at::Tensor& b) {                                                   \
    const auto of_torch = [](const auto& x, const auto& y) { return at::name(x, y); };                          \
    if (!are_simple(a, b)) return of_torch(a, b);                                                               \
    return of_floats(                                                                                           \
        a, b, [](const auto* x, const auto* y, auto* out, std::int64_t n) { kernel(x, y, out, n); }, of_torch); \
  }
HEATPP_EXTREMUM(maximum, larger_or_nan)
HEATPP_EXTREMUM(minimum, smaller_or_nan)
#undef HEATPP_EXTREMUM

at::Tensor sign(const at::Tensor& x) {
  const auto kernel = [](const auto* in, auto* out, std::int64_t n) { signs(in, out, n); };
  if (x.is_cpu() && x.scalar_type() == at::kFloat) return map_runs<float, float>(x, kernel);
  if (x.is_cpu() && x.scalar_type() == at::kDouble) return map_runs<double, double>(x, kernel);
  return x.is_floating_point() ? at::where(at::isnan(x), x, at::sgn(x)) : at::sgn(x);
}

at::Tensor without_nan(const at::Tensor& x, double value) {
  if (!x.is_cpu() || (x.scalar_type() != at::kFloat && x.scalar_type() != at::kDouble))
    return at::where(at::isnan(x), value, x);
  return AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "without_nan", [&] {
    const auto instead = static_cast<scalar_t>(value);
    return map_runs<scalar_t, scalar_t>(
        x, [=](const scalar_t* in, scalar_t* out, std::int64_t n) { numbers(in, instead, out, n); });
  });
}

at::Tensor sqrt(const at::Tensor& x) {
  if (!x.is_cpu() || (x.scalar_type() != at::kFloat && x.scalar_type() != at::kDouble)) return at::sqrt(x);
  return AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sqrt", [&] {
    return map_runs<scalar_t, scalar_t>(
        x, [](const scalar_t* in, scalar_t* out, std::int64_t n) { square_roots(in, out, n); });
  });
}

at::Tensor cbrt(const at::Tensor& x) {
  return AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "cbrt", [&] {
    return map_runs<scalar_t, scalar_t>(
        x, [](const scalar_t* in, scalar_t* out, std::int64_t n) { cube_roots(in, out, n); });
  });
}
at::Tensor ldexp(const at::Tensor& x, const at::Tensor& power) {
  return AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ldexp", [&] {
    return combine_runs<scalar_t, scalar_t>(
        x, power,
        [](const scalar_t* in, const scalar_t* n, scalar_t* out, std::int64_t count) { scale(in, n, out, count); });
  });
}

at::Tensor modulus(const at::Tensor& z) {
  if (!z.is_cpu()) return at::abs(z);
  return AT_DISPATCH_COMPLEX_TYPES(z.scalar_type(), "modulus", [&] {
    using T = typename scalar_t::value_type;
    return map_runs<scalar_t, T>(
        z, [](const scalar_t* in, T* out, std::int64_t n) { moduli(reinterpret_cast<const T*>(in), out, n); });
  });
}

at::Tensor bitwise_count(const at::Tensor& x) {
  if (x.scalar_type() == at::kBool) return bitwise_count(x.view(at::kByte));
  return AT_DISPATCH_INTEGRAL_TYPES(x.scalar_type(), "bitwise_count", [&] {
    return map_runs<scalar_t, std::uint8_t>(
        x, [](const scalar_t* in, std::uint8_t* out, std::int64_t n) { count_bits(in, out, n); });
  });
}

}  // namespace heatpp::detail::runs

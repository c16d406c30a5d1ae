#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/elementwise/detail/run_loop.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace heatpp::detail::local {
namespace {

/// Returns the dtype in which whole numbers are computed: int8 for two bools.
at::ScalarType whole_type(const at::Tensor& a, const at::Tensor& b) {
  const auto type = at::result_type(a, b);
  return type == at::kBool ? at::kChar : type;
}

/// Returns a / b rounded down or towards 0, computed in double, or float for 16 bits: exact for numbers below 2^52, and
/// vector code. Division by 0 gives 0; overflow wraps modulo the range.
template <bool Down, class T>
inline __attribute__((always_inline)) T quotient(T a, T b) {
  using Whole = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  using Real = std::conditional_t<sizeof(T) <= 2, float, double>;
  constexpr auto end = -static_cast<Real>(std::numeric_limits<Whole>::lowest());
  const Real exact = static_cast<Real>(a) / static_cast<Real>(b == 0 ? T(1) : b);
  const Real whole = Down ? std::floor(exact) : std::trunc(exact);
  return b == 0 ? T(0) : static_cast<T>(static_cast<Whole>(whole == end ? -end : whole));
}

/// Returns the quotient of any int64.
template <bool Down>
std::int64_t wide_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  const auto towards_zero = a / b;
  return towards_zero - (Down && towards_zero * b != a && (a < 0) != (b < 0));
}

template <class T>
inline __attribute__((always_inline)) T rest(T a, T b, T whole) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return b == 0 ? T(0) : static_cast<T>(static_cast<Bits>(a) - static_cast<Bits>(whole) * static_cast<Bits>(b));
}

#define HEATPP_DIVISION(T, name, result)                                                                   \
  HEATPP_SIMD void name(const T* __restrict x, const T* __restrict y, T* __restrict out, std::int64_t n) { \
    for (std::int64_t i = 0; i < n; ++i) {                                                                 \
      const T a = x[i], b = y[i];                                                                          \
      out[i] = result;                                                                                     \
    }                                                                                                      \
  }
#define HEATPP_DIVISIONS(T, prefix, divide)                              \
  HEATPP_DIVISION(T, prefix##floor_quotients, divide<true>(a, b))        \
  HEATPP_DIVISION(T, prefix##remainders, rest(a, b, divide<true>(a, b))) \
  HEATPP_DIVISION(T, prefix##fmods, rest(a, b, divide<false>(a, b)))
HEATPP_DIVISIONS(std::uint8_t, , quotient)
HEATPP_DIVISIONS(std::int8_t, , quotient)
HEATPP_DIVISIONS(std::int16_t, , quotient)
HEATPP_DIVISIONS(std::int32_t, , quotient)
HEATPP_DIVISIONS(std::int64_t, small_, quotient)
HEATPP_DIVISIONS(std::int64_t, wide_, wide_quotient)
#undef HEATPP_DIVISIONS
#undef HEATPP_DIVISION

HEATPP_SIMD bool are_small(const std::int64_t* x, std::int64_t n) {
  constexpr std::uint64_t end = std::uint64_t{1} << 52;
  std::uint64_t beyond = 0;
  for (std::int64_t i = 0; i < n; ++i) beyond |= (static_cast<std::uint64_t>(x[i]) + end) >> 53;
  return beyond == 0;
}

#define HEATPP_DIVISION_OF_INT64(name)                                                           \
  void name(const std::int64_t* x, const std::int64_t* y, std::int64_t* out, std::int64_t n) {   \
    are_small(x, n) && are_small(y, n) ? small_##name(x, y, out, n) : wide_##name(x, y, out, n); \
  }
HEATPP_DIVISION_OF_INT64(floor_quotients)
HEATPP_DIVISION_OF_INT64(remainders)
HEATPP_DIVISION_OF_INT64(fmods)
#undef HEATPP_DIVISION_OF_INT64

template <class Kernel>
at::Tensor divide_whole(const at::Tensor& a, const at::Tensor& b, Kernel kernel) {
  const auto type = whole_type(a, b);
  return AT_DISPATCH_INTEGRAL_TYPES(
      type, "divide_whole", [&] { return runs::combine_runs<scalar_t, scalar_t>(a.to(type), b.to(type), kernel); });
}

#define HEATPP_KERNEL(name) [](const auto* x, const auto* y, auto* out, std::int64_t n) { name(x, y, out, n); }

/// Returns operation(a, b) in the common dtype, to which numbers are rounded, and f(a, b) where that is NaN, because
/// LibTorch's vector code fails for quotients beyond its range.
template <class Operation, class F>
at::Tensor with_large_quotients(const at::Tensor& left, const at::Tensor& right, Operation operation, F f) {
  const auto type = at::result_type(left, right);
  const auto a = left.to(type), b = right.to(type);
  const at::Tensor result = operation(a, b), lost = at::isnan(result);
  if (!lost.any().item<bool>()) return result;
  const auto lost_of = [&](const at::Tensor& x) {
    return at::masked_select(x.expand_as(lost), lost).to(at::kCPU, at::kDouble);
  };
  at::Tensor x = lost_of(a);
  const at::Tensor y = lost_of(b);
  std::transform(x.data_ptr<double>(), x.data_ptr<double>() + x.numel(), y.data_ptr<double>(), x.data_ptr<double>(), f);
  return result.masked_scatter_(lost, x.to(result.options()));
}

/// Returns f of the absolute values of whole numbers, computed without signs, modulo their range.
template <class F>
at::Tensor of_magnitudes(const at::Tensor& a, const at::Tensor& b, F f) {
  const auto type = at::result_type(a, b);
  return AT_DISPATCH_INTEGRAL_TYPES(type, "gcd", [&] {
    using Magnitude = std::make_unsigned_t<scalar_t>;
    const auto magnitude = [](scalar_t v) {
      const auto bits = static_cast<Magnitude>(v);
      return static_cast<Magnitude>(v < 0 ? 0 - bits : bits);
    };
    return runs::map_pairs<scalar_t>(a.to(type), b.to(type), [&](scalar_t left, scalar_t right) {
      return static_cast<scalar_t>(f(magnitude(left), magnitude(right)));
    });
  });
}

}  // namespace

bool is_whole(const at::Tensor& a, const at::Tensor& b) { return at::isIntegralType(at::result_type(a, b), true); }

at::Tensor floor_divide(const at::Tensor& a, const at::Tensor& b) {
  if (is_whole(a, b)) return divide_whole(a, b, HEATPP_KERNEL(floor_quotients));
  const auto type = at::result_type(a, b);  // numbers are rounded to it, as for remainder
  return at::floor_divide(a.to(type), b.to(type));
}
at::Tensor remainder(const at::Tensor& a, const at::Tensor& b) {
  if (is_whole(a, b)) return divide_whole(a, b, HEATPP_KERNEL(remainders));
  auto result = with_large_quotients(
      a, b, [](const auto& x, const auto& y) { return at::remainder(x, y); },
      [](double x, double y) {
        const auto rest = std::fmod(x, y);
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
      });
  return result.copysign_(b);  // a zero also has the sign of b
}
at::Tensor fmod(const at::Tensor& a, const at::Tensor& b) {
  if (is_whole(a, b)) return divide_whole(a, b, HEATPP_KERNEL(fmods));
  return with_large_quotients(
      a, b, [](const auto& x, const auto& y) { return at::fmod(x, y); },
      [](double x, double y) { return std::fmod(x, y); });
}
#undef HEATPP_KERNEL

at::Tensor gcd(const at::Tensor& a, const at::Tensor& b) {
  return of_magnitudes(a, b, [](auto x, auto y) { return std::gcd(x, y); });
}
at::Tensor lcm(const at::Tensor& a, const at::Tensor& b) {
  return of_magnitudes(a, b, [](auto x, auto y) {
    const auto common = std::gcd(x, y);
    return common == 0 ? common : x / common * y;
  });
}

}  // namespace heatpp::detail::local

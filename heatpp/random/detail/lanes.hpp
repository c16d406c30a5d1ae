#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

// Numbers of a distribution from random words without a branch, so that loops over them are vectorized. The arithmetic
// is the same on every machine: only operations that IEEE 754 defines to the last bit, without fused ones.
namespace heatpp::random::detail {

/// The integer of T's size, T's exponent bits, and the polynomials of the kernels below.
template <class T>
struct Real;

template <>
struct Real<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa = 23;
  static constexpr Bits one = 0x3F800000, root_half = 0x3F3504F3;
  static constexpr float integer_bits = 0x1p23f;
  // From Sun's fdlibm: log(1 + f) = 2 s + s^3 (...), s = f / (2 + f).
  static constexpr float log[] = {0.66666662693f, 0.40000972152f, 0.28498786688f, 0.24279078841f};
  // From Moshier's Cephes, |x| <= pi / 4.
  static constexpr float sine[] = {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f};
  static constexpr float cosine[] = {4.166664568298827e-2f, -1.388731625493765e-3f, 2.443315711809948e-5f};
};

template <>
struct Real<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa = 52;
  static constexpr Bits one = 0x3FF0000000000000, root_half = 0x3FE6A09E667F3BCD;
  static constexpr double integer_bits = 0x1p52;
  static constexpr double log[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                   2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                   1.479819860511658591e-01};
  static constexpr double sine[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                    -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                    -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  static constexpr double cosine[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                      2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                      2.08757232129817482790e-09, -1.13596475577881948265e-11};
};

template <std::size_t I = 0, class T, std::size_t N>
[[gnu::always_inline]] constexpr T polynomial(const T (&coefficients)[N], T x) {
  if constexpr (I + 1 == N) return coefficients[I];
  else return coefficients[I] + x * polynomial<I + 1>(coefficients, x);
}

/// A number in the open interval (0, 1) as its distance from the nearer end, which keeps all digits at both ends.
template <class T>
struct Unit {
  T distance;
  bool upper;  ///< whether measured from 1
};

[[gnu::always_inline]] inline Unit<float> unit(std::uint32_t word) {
  const bool upper = word >> 31;
  const auto near = static_cast<std::int32_t>(upper ? ~word : word);
  return {(static_cast<float>(near) + 0.5f) * 0x1p-32f, upper};
}
[[gnu::always_inline]] inline Unit<double> unit(std::uint32_t low, std::uint32_t high) {
  const bool upper = high >> 31;
  const std::uint32_t flip = upper ? ~0u : 0u;
  const auto top = static_cast<double>(static_cast<std::int32_t>(high ^ flip));
  const auto rest = static_cast<double>(static_cast<std::int32_t>((low ^ flip) >> 11));
  return {(top * 0x1p21 + rest + 0.5) * 0x1p-53, upper};
}

/// Returns the log of a number in (0, 1).
template <class T>
[[gnu::always_inline]] inline T log_of(Unit<T> u) {
  using R = Real<T>;
  const T x = u.upper ? 1 - u.distance : u.distance;
  const auto shifted = std::bit_cast<typename R::Bits>(x) + (R::one - R::root_half);
  // The exponent becomes a number: it is placed in the mantissa of one whose last digit is 1.
  const T exponent = std::bit_cast<T>((shifted >> R::mantissa) | std::bit_cast<typename R::Bits>(R::integer_bits)) -
                     (R::integer_bits + static_cast<T>(R::one >> R::mantissa));
  const T scaled = std::bit_cast<T>((shifted & ((typename R::Bits{1} << R::mantissa) - 1)) + R::root_half);
  const T f = exponent == 0 ? -u.distance : scaled - 1;
  const T s = f / (2 + f), square = s * s, half = f * f / 2;
  const T near_one = f - (half - s * (half + square * polynomial(R::log, square)));
  return exponent * static_cast<T>(0.69314718055994530942) + near_one;
}

/// Returns log(u / (1 - u)) of a number u in (0, 1).
template <class T>
[[gnu::always_inline]] inline T logit_of(Unit<T> u) {
  const T log = log_of(Unit<T>{u.distance, false}) - log_of(Unit<T>{u.distance, true});
  return u.upper ? -log : log;
}

/// Sine and cosine of quarter / 4 turns + x, |x| <= pi / 4.
template <class T>
struct SineCosine {
  T sine, cosine;
};
template <class T>
[[gnu::always_inline]] inline SineCosine<T> sine_cosine(std::uint32_t quarter, T x) {
  using R = Real<T>;
  const T square = x * x;
  const T sine = x + x * square * polynomial(R::sine, square);
  const T cosine = 1 - square / 2 + square * square * polynomial(R::cosine, square);
  const T a = quarter & 1 ? cosine : sine, b = quarter & 1 ? sine : cosine;
  return {quarter & 2 ? -a : a, (quarter + 1) & 2 ? -b : b};
}

constexpr double pi = 3.14159265358979323846;

[[gnu::always_inline]] inline SineCosine<float> direction(std::uint32_t word) {
  const auto quarter = (word + (1u << 29)) >> 30;
  const auto rest = static_cast<std::int32_t>(word - (quarter << 30));
  return sine_cosine(quarter, (static_cast<float>(rest) + 0.5f) * static_cast<float>(pi * 0x1p-31));
}
[[gnu::always_inline]] inline SineCosine<double> direction(std::uint32_t low, std::uint32_t high) {
  const auto quarter = (high + (1u << 29)) >> 30;
  const auto rest = static_cast<double>(static_cast<std::int32_t>(high - (quarter << 30)));
  const auto digits = static_cast<double>(static_cast<std::int32_t>(low >> 11));
  return sine_cosine(quarter, (rest * 0x1p21 + digits + 0.5) * (pi * 0x1p-52));
}

/// Two independent standard normal numbers (Box and Muller 1958). The largest are 6.7 for float and 8.6 for double,
/// which cuts 2e-11 and 8e-18 of the distribution.
template <class T>
struct Pair {
  T first, second;
};
template <class T>
[[gnu::always_inline]] inline Pair<T> normal_pair(Unit<T> u, SineCosine<T> angle) {
  const T radius = std::sqrt(-2 * log_of(u));
  return {radius * angle.cosine, radius * angle.sine};
}

}  // namespace heatpp::random::detail

#include <heatpp/core/detail/fused/kernels.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <array>
#include <cmath>
#include <type_traits>

namespace heatpp::detail::fused {
namespace {

using b8 = std::uint8_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

#define HEATPP_INLINE inline __attribute__((always_inline))
/// Whole numbers wrap.
template <class T>
using Wrapping = std::conditional_t<std::is_same_v<T, i64>, std::uint64_t,
                                    std::conditional_t<std::is_same_v<T, i32>, std::uint32_t, T>>;
template <class T>
HEATPP_INLINE T add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
HEATPP_INLINE T subtract(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T>
HEATPP_INLINE T multiply(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <class T>
HEATPP_INLINE T negative(T a) {
  if constexpr (std::is_integral_v<T>) return subtract(T(0), a);
  else return -a;
}
template <class T>
HEATPP_INLINE T absolute(T a) {
  if constexpr (std::is_integral_v<T>) return a < 0 ? negative(a) : a;
  else return std::abs(a);
}
/// Returns NaN if one is NaN, and `a` of equal numbers, as runs::maximum.
template <class T>
HEATPP_INLINE T larger(T a, T b) {
  return (a >= b) | (a != a) ? a : b;
}
template <class T>
HEATPP_INLINE T smaller(T a, T b) {
  return (a <= b) | (a != a) ? a : b;
}
template <class T>
HEATPP_INLINE T sign(T a) {
  const T above = a > 0 ? T(1) : T(0), below = a < 0 ? T(1) : T(0);
  return a != a ? a : above - below;
}
#undef HEATPP_INLINE

// The pragma says that no element depends on another one, also if `out` is an argument.
#define HEATPP_LOOP(R, result)          \
  auto* const r = static_cast<R*>(out); \
  _Pragma("GCC ivdep") for (i64 i = 0; i < n; ++i) { r[i] = static_cast<R>(result); }
#define HEATPP_ARGUMENTS(T) const auto *const p = static_cast<const T*>(x), *const q = static_cast<const T*>(y);

/// Defines the three forms of an operation on two values.
#define HEATPP_PAIRS(name, T, R, result)                                                              \
  HEATPP_SIMD void name##_##T(const void* x, const void* y, const void*, void* out, i64 n) {          \
    HEATPP_ARGUMENTS(T)                                                                               \
    const auto f = [](T a, T b) __attribute__((always_inline)) { return result; };                    \
    HEATPP_LOOP(R, f(p[i], q[i]))                                                                     \
  }                                                                                                   \
  HEATPP_SIMD void name##_##T##_second(const void* x, const void* y, const void*, void* out, i64 n) { \
    HEATPP_ARGUMENTS(T)                                                                               \
    const auto f = [b = *q](T a) __attribute__((always_inline)) { return result; };                   \
    HEATPP_LOOP(R, f(p[i]))                                                                           \
  }                                                                                                   \
  HEATPP_SIMD void name##_##T##_first(const void* x, const void* y, const void*, void* out, i64 n) {  \
    HEATPP_ARGUMENTS(T)                                                                               \
    const auto f = [a = *p](T b) __attribute__((always_inline)) { return result; };                   \
    HEATPP_LOOP(R, f(q[i]))                                                                           \
  }
#define HEATPP_OF_NUMBERS(T)                   \
  HEATPP_PAIRS(add, T, T, add(a, b))           \
  HEATPP_PAIRS(subtract, T, T, subtract(a, b)) \
  HEATPP_PAIRS(multiply, T, T, multiply(a, b)) \
  HEATPP_PAIRS(equal, T, b8, a == b)           \
  HEATPP_PAIRS(different, T, b8, a != b)       \
  HEATPP_PAIRS(less, T, b8, a < b)             \
  HEATPP_PAIRS(less_or_equal, T, b8, a <= b)   \
  HEATPP_PAIRS(maximum, T, T, larger(a, b))    \
  HEATPP_PAIRS(minimum, T, T, smaller(a, b))
HEATPP_OF_NUMBERS(i32)
HEATPP_OF_NUMBERS(i64)
HEATPP_OF_NUMBERS(f32)
HEATPP_OF_NUMBERS(f64)
HEATPP_PAIRS(divide, f32, f32, a / b)
HEATPP_PAIRS(divide, f64, f64, a / b)
#undef HEATPP_OF_NUMBERS
#undef HEATPP_PAIRS

#define HEATPP_RUNS(name, T, R, result)                                                      \
  HEATPP_SIMD void name##_##T(const void* x, const void* y, const void*, void* out, i64 n) { \
    HEATPP_ARGUMENTS(T)                                                                      \
    static_cast<void>(q);                                                                    \
    HEATPP_LOOP(R, result)                                                                   \
  }
HEATPP_RUNS(negative, i32, i32, negative(p[i]))
HEATPP_RUNS(negative, i64, i64, negative(p[i]))
HEATPP_RUNS(negative, f32, f32, negative(p[i]))
HEATPP_RUNS(negative, f64, f64, negative(p[i]))
HEATPP_RUNS(absolute, i32, i32, absolute(p[i]))
HEATPP_RUNS(absolute, i64, i64, absolute(p[i]))
HEATPP_RUNS(absolute, f32, f32, absolute(p[i]))
HEATPP_RUNS(absolute, f64, f64, absolute(p[i]))
HEATPP_RUNS(root, f32, f32, std::sqrt(p[i]))
HEATPP_RUNS(root, f64, f64, std::sqrt(p[i]))
HEATPP_RUNS(sign, i32, i32, sign(p[i]))
HEATPP_RUNS(sign, i64, i64, sign(p[i]))
HEATPP_RUNS(sign, f32, f32, sign(p[i]))
HEATPP_RUNS(sign, f64, f64, sign(p[i]))
#define HEATPP_ROUNDING(T)                   \
  HEATPP_RUNS(floor, T, T, std::floor(p[i])) \
  HEATPP_RUNS(ceil, T, T, std::ceil(p[i]))   \
  HEATPP_RUNS(trunc, T, T, std::trunc(p[i])) \
  HEATPP_RUNS(rint, T, T, std::nearbyint(p[i]))
HEATPP_ROUNDING(f32)
HEATPP_ROUNDING(f64)
#undef HEATPP_ROUNDING
HEATPP_RUNS(both, b8, b8, (p[i] != 0) & (q[i] != 0))
HEATPP_RUNS(either, b8, b8, (p[i] != 0) | (q[i] != 0))
HEATPP_RUNS(one_of, b8, b8, (p[i] != 0) ^ (q[i] != 0))
HEATPP_RUNS(opposite, b8, b8, p[i] == 0)
HEATPP_RUNS(to_i32, b8, i32, p[i] != 0)
HEATPP_RUNS(to_i64, b8, i64, p[i] != 0)
HEATPP_RUNS(to_f32, b8, f32, p[i] != 0)
HEATPP_RUNS(to_f64, b8, f64, p[i] != 0)
HEATPP_RUNS(to_i64, i32, i64, p[i])
HEATPP_RUNS(to_f32, i32, f32, p[i])
HEATPP_RUNS(to_f64, i32, f64, p[i])
HEATPP_RUNS(to_i32, i64, i32, p[i])
HEATPP_RUNS(to_f32, i64, f32, p[i])
HEATPP_RUNS(to_f64, i64, f64, p[i])
HEATPP_RUNS(to_f64, f32, f64, p[i])
HEATPP_RUNS(to_f32, f64, f32, p[i])
#undef HEATPP_RUNS

// Selects by a mask of all bits, because g++ compiles a condition to a branch.
#define HEATPP_SELECT(T)                                                                           \
  HEATPP_SIMD void select_##T(const void* which, const void* x, const void* y, void* out, i64 n) { \
    HEATPP_ARGUMENTS(T)                                                                            \
    const auto* const c = static_cast<const b8*>(which);                                           \
    auto* const r = static_cast<T*>(out);                                                          \
    _Pragma("GCC ivdep") for (i64 i = 0; i < n; ++i) {                                             \
      const auto mask = static_cast<T>(-static_cast<T>(c[i] != 0));                                \
      r[i] = static_cast<T>((p[i] & mask) | (q[i] & static_cast<T>(~mask)));                       \
    }                                                                                              \
  }
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
HEATPP_SELECT(u8)
HEATPP_SELECT(u32)
HEATPP_SELECT(u64)
#undef HEATPP_SELECT
#undef HEATPP_LOOP
#undef HEATPP_ARGUMENTS

/// The kernels by operation, type of the arguments, type of the result, and form.
class Table {
 public:
  Table() {
    of_numbers();
    of_runs();
    conversions();
  }
  [[nodiscard]] Kernel at(Op op, Type from, Type to, Form form) const {
    return kernels_[static_cast<std::size_t>(op)][static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]
                   [static_cast<std::size_t>(form)];
  }

 private:
  void put(Op op, Type from, Type to, Kernel runs, Kernel second = nullptr, Kernel first = nullptr) {
    kernels_[static_cast<std::size_t>(op)][static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = {
        runs, second, first};
  }
#define HEATPP_PUT(name, type, T, to) \
  put(Op::name, Type::type, Type::to, name##_##T, name##_##T##_second, name##_##T##_first);
#define HEATPP_PUT_NUMBERS(type, T)           \
  HEATPP_PUT(add, type, T, type)              \
  HEATPP_PUT(subtract, type, T, type)         \
  HEATPP_PUT(multiply, type, T, type)         \
  HEATPP_PUT(equal, type, T, boolean)         \
  HEATPP_PUT(different, type, T, boolean)     \
  HEATPP_PUT(less, type, T, boolean)          \
  HEATPP_PUT(less_or_equal, type, T, boolean) \
  HEATPP_PUT(maximum, type, T, type)          \
  HEATPP_PUT(minimum, type, T, type)
  void of_numbers() {
    HEATPP_PUT_NUMBERS(int32, i32)
    HEATPP_PUT_NUMBERS(int64, i64)
    HEATPP_PUT_NUMBERS(float32, f32)
    HEATPP_PUT_NUMBERS(float64, f64)
    HEATPP_PUT(divide, float32, f32, float32)
    HEATPP_PUT(divide, float64, f64, float64)
  }
#undef HEATPP_PUT_NUMBERS
#undef HEATPP_PUT
#define HEATPP_PUT(name, type, T) put(Op::name, Type::type, Type::type, name##_##T);
  void of_runs() {
    HEATPP_PUT(negative, int32, i32)
    HEATPP_PUT(negative, int64, i64)
    HEATPP_PUT(negative, float32, f32)
    HEATPP_PUT(negative, float64, f64)
    HEATPP_PUT(absolute, int32, i32)
    HEATPP_PUT(absolute, int64, i64)
    HEATPP_PUT(absolute, float32, f32)
    HEATPP_PUT(absolute, float64, f64)
    HEATPP_PUT(root, float32, f32)
    HEATPP_PUT(root, float64, f64)
    HEATPP_PUT(sign, int32, i32)
    HEATPP_PUT(sign, int64, i64)
    HEATPP_PUT(sign, float32, f32)
    HEATPP_PUT(sign, float64, f64)
    HEATPP_PUT(floor, float32, f32)
    HEATPP_PUT(floor, float64, f64)
    HEATPP_PUT(ceil, float32, f32)
    HEATPP_PUT(ceil, float64, f64)
    HEATPP_PUT(trunc, float32, f32)
    HEATPP_PUT(trunc, float64, f64)
    HEATPP_PUT(rint, float32, f32)
    HEATPP_PUT(rint, float64, f64)
    HEATPP_PUT(both, boolean, b8)
    HEATPP_PUT(either, boolean, b8)
    HEATPP_PUT(one_of, boolean, b8)
    HEATPP_PUT(opposite, boolean, b8)
    HEATPP_PUT(select, boolean, u8)
    HEATPP_PUT(select, int32, u32)
    HEATPP_PUT(select, float32, u32)
    HEATPP_PUT(select, float64, u64)
    HEATPP_PUT(select, int64, u64)
  }
#undef HEATPP_PUT
  void conversions() {
    put(Op::convert, Type::boolean, Type::int32, to_i32_b8);
    put(Op::convert, Type::boolean, Type::int64, to_i64_b8);
    put(Op::convert, Type::boolean, Type::float32, to_f32_b8);
    put(Op::convert, Type::boolean, Type::float64, to_f64_b8);
    put(Op::convert, Type::int32, Type::int64, to_i64_i32);
    put(Op::convert, Type::int32, Type::float32, to_f32_i32);
    put(Op::convert, Type::int32, Type::float64, to_f64_i32);
    put(Op::convert, Type::int64, Type::int32, to_i32_i64);
    put(Op::convert, Type::int64, Type::float32, to_f32_i64);
    put(Op::convert, Type::int64, Type::float64, to_f64_i64);
    put(Op::convert, Type::float32, Type::float64, to_f64_f32);
    put(Op::convert, Type::float64, Type::float32, to_f32_f64);
  }

  using Forms = std::array<Kernel, form_count>;
  std::array<std::array<std::array<Forms, type_count>, type_count>, op_count> kernels_{};
};

}  // namespace

Kernel kernel_of(Op op, Type from, Type to, Form form) {
  if (is_of_torch(op)) return form == Form::runs && from == to ? torch_kernel_of(op, from) : nullptr;
  static const Table table;
  return table.at(op, from, to, form);
}

}  // namespace heatpp::detail::fused

#include <heatpp/comm/detail/schedule/combine.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/reproducible/marked_sum.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heatpp::detail {
namespace {

// Elements that have one type in memory and another in sums.
struct BFloat16 {
  std::uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  static BFloat16 from(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    if (value != value) return {static_cast<std::uint16_t>((wide >> 16) | 0x40)};  // keep a NaN a NaN
    return {static_cast<std::uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16)};
  }
};
struct Float16 {
  std::uint16_t bits;
  explicit operator float() const { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
  static Float16 from(float value) { return {std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))}; }
};
template <class T>
inline constexpr bool narrow_float = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

template <class T, class W>
T to(W value) {
  if constexpr (narrow_float<T>) return T::from(value);
  else return static_cast<T>(value);
}

template <ReduceOp Op, class W>
W apply(W a, W b) {
  constexpr bool wraps = std::is_integral_v<W> && (Op == ReduceOp::sum || Op == ReduceOp::prod);
  if constexpr (wraps) {  // unsigned, so that an overflow wraps and is defined
    using U = std::common_type_t<std::make_unsigned_t<W>, unsigned>;
    const auto x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<W>(Op == ReduceOp::sum ? x + y : x * y);
  } else if constexpr (Op == ReduceOp::sum) {
    return a + b;
  } else if constexpr (Op == ReduceOp::prod) {
    return a * b;
  } else {
    const bool other = Op == ReduceOp::min ? b < a : b > a;  // false if either is NaN
    return a != a ? a : (other || b != b ? b : a);
  }
}

constexpr std::int64_t block = 1024;  // elements whose accumulators fit in the first-level cache

template <ReduceOp Op, class T>
void combine_typed(std::span<const void* const> sources, void* out, std::int64_t n) {
  using W = std::conditional_t<narrow_float<T>, float, T>;
  W sums[block];
  for (std::int64_t first = 0; first < n; first += block) {
    const auto length = std::min(block, n - first);
    const auto* a = static_cast<const T*>(sources[0]) + first;
    const auto* b = static_cast<const T*>(sources[1]) + first;
    auto* const result = static_cast<T*>(out) + first;
    if (sources.size() == 2) {
      for (std::int64_t i = 0; i < length; ++i)
        result[i] = to<T>(apply<Op>(static_cast<W>(a[i]), static_cast<W>(b[i])));
      continue;
    }
    for (std::int64_t i = 0; i < length; ++i) sums[i] = apply<Op>(static_cast<W>(a[i]), static_cast<W>(b[i]));
    for (const auto* source : sources.subspan(2)) {
      const auto* c = static_cast<const T*>(source) + first;
      for (std::int64_t i = 0; i < length; ++i) sums[i] = apply<Op>(sums[i], static_cast<W>(c[i]));
    }
    for (std::int64_t i = 0; i < length; ++i) result[i] = to<T>(sums[i]);
  }
}

template <class T>
void combine_of(ReduceOp op, std::span<const void* const> sources, void* out, std::int64_t n) {
  if (op == ReduceOp::sum || op == ReduceOp::mean) return combine_typed<ReduceOp::sum, T>(sources, out, n);
  if (op == ReduceOp::prod) return combine_typed<ReduceOp::prod, T>(sources, out, n);
  if constexpr (std::is_arithmetic_v<T> || narrow_float<T>) {
    if (op == ReduceOp::min) return combine_typed<ReduceOp::min, T>(sources, out, n);
    return combine_typed<ReduceOp::max, T>(sources, out, n);
  }
}

template <class T>
void divide_typed(void* data, std::int64_t n, int divisor) {
  using W = std::conditional_t<narrow_float<T>, float, T>;
  auto* const x = static_cast<T*>(data);
  for (std::int64_t i = 0; i < n; ++i) x[i] = to<T>(static_cast<W>(x[i]) / static_cast<W>(divisor));
}

template <class T>
void widen_typed(const void* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<const T*>(in)[i]);
}
template <class T>
void narrow_typed(const float* in, void* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = T::from(in[i]);
}

}  // namespace

void check_op(const char* call, ReduceOp op, Dtype dtype) {
  const bool complex = dtype == Dtype::complex64 || dtype == Dtype::complex128;
  if (complex && (op == ReduceOp::min || op == ReduceOp::max))
    raise<TypeError>(call, "got min or max of {}; expected a dtype with an order", name(dtype));
  if (op == ReduceOp::mean && dtype < Dtype::float16)
    raise<TypeError>(call, "got the mean of {}; expected a floating-point or complex dtype", name(dtype));
}

void combine(ReduceOp op, Dtype dtype, std::span<const void* const> sources, void* out, std::int64_t n) {
  if (op >= marked_sum) return combine_exactly(op, dtype, sources, out, n);
  if (sources.size() == 1) {
    if (n > 0) std::memmove(out, sources[0], static_cast<std::size_t>(n) * itemsize(dtype));
    return;
  }
  switch (dtype) {
    // The sum of booleans is "any", the product is "all"; for bytes 0 and 1 these are max and min.
    case Dtype::bool_:
      op = op == ReduceOp::sum || op == ReduceOp::max ? ReduceOp::max : ReduceOp::min;
      return combine_of<std::uint8_t>(op, sources, out, n);
    case Dtype::uint8: return combine_of<std::uint8_t>(op, sources, out, n);
    case Dtype::int8: return combine_of<std::int8_t>(op, sources, out, n);
    case Dtype::int16: return combine_of<std::int16_t>(op, sources, out, n);
    case Dtype::int32: return combine_of<std::int32_t>(op, sources, out, n);
    case Dtype::int64: return combine_of<std::int64_t>(op, sources, out, n);
    case Dtype::float16: return combine_of<Float16>(op, sources, out, n);
    case Dtype::bfloat16: return combine_of<BFloat16>(op, sources, out, n);
    case Dtype::float32: return combine_of<float>(op, sources, out, n);
    case Dtype::float64: return combine_of<double>(op, sources, out, n);
    case Dtype::complex64: return combine_of<std::complex<float>>(op, sources, out, n);
    case Dtype::complex128: return combine_of<std::complex<double>>(op, sources, out, n);
  }
}

void divide(Dtype dtype, void* data, std::int64_t n, int divisor) {
  switch (dtype) {
    case Dtype::float16: return divide_typed<Float16>(data, n, divisor);
    case Dtype::bfloat16: return divide_typed<BFloat16>(data, n, divisor);
    case Dtype::float32: return divide_typed<float>(data, n, divisor);
    case Dtype::float64: return divide_typed<double>(data, n, divisor);
    case Dtype::complex64: return divide_typed<float>(data, 2 * n, divisor);
    case Dtype::complex128: return divide_typed<double>(data, 2 * n, divisor);
    default: return;
  }
}

void widen(Dtype from, const void* in, float* out, std::int64_t n) {
  if (from == Dtype::bfloat16) widen_typed<BFloat16>(in, out, n);
  else widen_typed<Float16>(in, out, n);
}

void narrow(Dtype to, const float* in, void* out, std::int64_t n) {
  if (to == Dtype::bfloat16) narrow_typed<BFloat16>(in, out, n);
  else narrow_typed<Float16>(in, out, n);
}

}  // namespace heatpp::detail

#include <heatpp/ops/elementwise/detail/run_blocks.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/elementwise/detail/run_loop.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

namespace heatpp::detail::runs {
namespace {

#define HEATPP_COMPARISON(T, name, op)                                                                        \
  HEATPP_SIMD void name(const T* __restrict a, const T* __restrict b, bool* __restrict out, std::int64_t n) { \
    for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] op b[i];                                               \
  }
#define HEATPP_COMPARISONS(T)         \
  HEATPP_COMPARISON(T, equal, ==)     \
  HEATPP_COMPARISON(T, different, !=) \
  HEATPP_COMPARISON(T, less, <)       \
  HEATPP_COMPARISON(T, less_or_equal, <=)
HEATPP_COMPARISONS(float)
HEATPP_COMPARISONS(double)
HEATPP_COMPARISONS(std::uint8_t)
HEATPP_COMPARISONS(std::int8_t)
HEATPP_COMPARISONS(std::int16_t)
HEATPP_COMPARISONS(std::int32_t)
HEATPP_COMPARISONS(std::int64_t)
#undef HEATPP_COMPARISONS
#undef HEATPP_COMPARISON

#define HEATPP_MAGNITUDE(T, name, op)                                                              \
  HEATPP_SIMD void name(const T* __restrict x, bool* __restrict out, std::int64_t n) {             \
    for (std::int64_t i = 0; i < n; ++i) out[i] = std::abs(x[i]) op std::numeric_limits<T>::max(); \
  }
HEATPP_MAGNITUDE(float, finite, <=)
HEATPP_MAGNITUDE(double, finite, <=)
HEATPP_MAGNITUDE(float, infinite, >)
HEATPP_MAGNITUDE(double, infinite, >)
#undef HEATPP_MAGNITUDE

// Selects by a mask of all bits, because g++ compiles a condition to a branch.
#define HEATPP_SELECT(T)                                                                                          \
  HEATPP_SIMD void select(const std::uint8_t* __restrict condition, const T* __restrict a, const T* __restrict b, \
                          T* __restrict out, std::int64_t n) {                                                    \
    for (std::int64_t i = 0; i < n; ++i) {                                                                        \
      const auto mask = static_cast<T>(-static_cast<T>(condition[i] != 0));                                       \
      out[i] = static_cast<T>((a[i] & mask) | (b[i] & ~mask));                                                    \
    }                                                                                                             \
  }                                                                                                               \
  HEATPP_SIMD void fill(const std::uint8_t* __restrict condition, T value, T* __restrict out, std::int64_t n) {   \
    for (std::int64_t i = 0; i < n; ++i) {                                                                        \
      const auto mask = static_cast<T>(-static_cast<T>(condition[i] != 0));                                       \
      out[i] = static_cast<T>((value & mask) | (out[i] & ~mask));                                                 \
    }                                                                                                             \
  }
HEATPP_SELECT(std::uint8_t)
HEATPP_SELECT(std::uint16_t)
HEATPP_SELECT(std::uint32_t)
HEATPP_SELECT(std::uint64_t)
#undef HEATPP_SELECT

/// Counts in bytes, which cannot overflow in a run.
HEATPP_SIMD std::int64_t count_run(const std::uint8_t* __restrict mask, std::int64_t n) {
  constexpr std::int64_t lanes = 64;
  static_assert(run_size / lanes < 255);
  std::uint8_t counts[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t j = 0; j < lanes; ++j) counts[j] = static_cast<std::uint8_t>(counts[j] + (mask[i + j] != 0));
  for (std::int64_t j = 0; i + j < n; ++j) counts[j] = static_cast<std::uint8_t>(counts[j] + (mask[i + j] != 0));
  return std::accumulate(counts, counts + lanes, std::int64_t{0});
}

template <class Kernel, class Other>
at::Tensor compare(const at::Tensor& a, const at::Tensor& b, Kernel kernel, Other other) {
  const auto shape = at::infer_size(a.sizes(), b.sizes());
  if (!is_simple(a, shape) || !is_simple(b, shape)) return other(a, b);
  const auto type = at::result_type(a, b);
  switch (type) {
    case at::kFloat: return combine_runs<float, bool>(a.to(type), b.to(type), kernel);
    case at::kDouble: return combine_runs<double, bool>(a.to(type), b.to(type), kernel);
    case at::kByte: return combine_runs<std::uint8_t, bool>(a.to(type), b.to(type), kernel);
    case at::kChar: return combine_runs<std::int8_t, bool>(a.to(type), b.to(type), kernel);
    case at::kShort: return combine_runs<std::int16_t, bool>(a.to(type), b.to(type), kernel);
    case at::kInt: return combine_runs<std::int32_t, bool>(a.to(type), b.to(type), kernel);
    case at::kLong: return combine_runs<std::int64_t, bool>(a.to(type), b.to(type), kernel);
    default: return other(a, b);
  }
}

template <class Kernel, class Other>
at::Tensor test(const at::Tensor& x, Kernel kernel, Other other) {
  if (!x.is_cpu() || !x.is_contiguous()) return other(x);
  if (x.scalar_type() == at::kFloat) return map_runs<float, bool>(x, kernel);
  return x.scalar_type() == at::kDouble ? map_runs<double, bool>(x, kernel) : other(x);
}

template <class T>
at::Tensor selected(const at::Tensor& condition, const at::Tensor& a, const at::Tensor& b) {
  auto out = at::empty(condition.sizes(), a.options());
  const auto* which = static_cast<const std::uint8_t*>(condition.const_data_ptr());
  const Reader<T> x(a, out.numel()), y(b, out.numel());
  auto* const result = static_cast<T*>(out.mutable_data_ptr());
  in_runs(out.numel(), [&](std::int64_t first, std::int64_t count) {
    select(which + first, x.from(first), y.from(first), result + first, count);
  });
  return out;
}

template <class T>
void filled(const at::Tensor& block, const at::Tensor& mask, const at::Tensor& value) {
  const auto* which = static_cast<const std::uint8_t*>(mask.const_data_ptr());
  const auto number = *static_cast<const T*>(value.const_data_ptr());
  auto* const out = static_cast<T*>(block.mutable_data_ptr());
  in_runs(block.numel(),
          [&](std::int64_t first, std::int64_t count) { fill(which + first, number, out + first, count); });
}

}  // namespace

#define HEATPP_COMPARE(name, kernel, first, second, swapped)                                                    \
  at::Tensor name(const at::Tensor& a, const at::Tensor& b) {                                                   \
    const auto of_runs = [](const auto* x, const auto* y, bool* out, std::int64_t n) { kernel(x, y, out, n); }; \
    return compare(first, second, of_runs, [](const auto& x, const auto& y) { return at::swapped(x, y); });     \
  }
HEATPP_COMPARE(eq, equal, a, b, eq)
HEATPP_COMPARE(ne, different, a, b, ne)
HEATPP_COMPARE(lt, less, a, b, lt)
HEATPP_COMPARE(le, less_or_equal, a, b, le)
HEATPP_COMPARE(gt, less, b, a, lt)
HEATPP_COMPARE(ge, less_or_equal, b, a, le)
#undef HEATPP_COMPARE

std::int64_t count_true(const at::Tensor& mask) {
  const auto* in = static_cast<const std::uint8_t*>(mask.const_data_ptr());
  std::atomic<std::int64_t> total = 0;
  in_runs(mask.numel(), [&](std::int64_t first, std::int64_t count) { total += count_run(in + first, count); });
  return total;
}

at::Tensor isnan(const at::Tensor& x) { return x.is_floating_point() ? runs::ne(x, x) : at::isnan(x); }
at::Tensor isinf(const at::Tensor& x) {
  return test(
      x, [](const auto* in, bool* out, std::int64_t n) { infinite(in, out, n); },
      [](const auto& y) { return at::isinf(y); });
}
at::Tensor isfinite(const at::Tensor& x) {
  return test(
      x, [](const auto* in, bool* out, std::int64_t n) { finite(in, out, n); },
      [](const auto& y) { return at::isfinite(y); });
}

at::Tensor where(const at::Tensor& condition, const at::Tensor& a, const at::Tensor& b) {
  const auto type = at::result_type(a, b);
  const auto x = a.to(type), y = b.to(type);
  const auto shape = condition.sizes();
  if (condition.scalar_type() == at::kBool && is_simple(condition, shape) && is_simple(x, shape) &&
      is_simple(y, shape) && x.dim() <= condition.dim() && y.dim() <= condition.dim())
    switch (x.element_size()) {
      case 1: return selected<std::uint8_t>(condition, x, y);
      case 2: return selected<std::uint16_t>(condition, x, y);
      case 4: return selected<std::uint32_t>(condition, x, y);
      case 8: return selected<std::uint64_t>(condition, x, y);
      default: break;
    }
  return at::where(condition, x, y);
}

void masked_fill(const at::Tensor& block, const at::Tensor& mask, const at::Tensor& value) {
  if (is_simple(block, block.sizes()) && block.is_contiguous() && is_simple(mask, block.sizes()) && value.is_cpu())
    switch (block.element_size()) {
      case 1: return filled<std::uint8_t>(block, mask, value);
      case 2: return filled<std::uint16_t>(block, mask, value);
      case 4: return filled<std::uint32_t>(block, mask, value);
      case 8: return filled<std::uint64_t>(block, mask, value);
      default: break;
    }
  block.masked_fill_(mask, value);
}

}  // namespace heatpp::detail::runs

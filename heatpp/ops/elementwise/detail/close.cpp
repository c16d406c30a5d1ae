#include <heatpp/ops/elementwise/detail/close.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/map_plan.hpp>

#include <cmath>
#include <limits>

namespace heatpp::detail {
namespace {

template <class T>
inline __attribute__((always_inline)) void close_run(const T* x, const T* y, bool* out, std::int64_t n,
                                                     const CloseOptions& options) {
  const auto rtol = static_cast<T>(options.rtol), atol = static_cast<T>(options.atol);
  const bool equal_nan = options.equal_nan;
  for (std::int64_t i = 0; i < n; ++i) {
    const T size = std::abs(y[i]);
    const bool near = std::abs(x[i] - y[i]) <= atol + rtol * size, finite = size <= std::numeric_limits<T>::max();
    const bool nan = (x[i] != x[i]) & (y[i] != y[i]);
    out[i] = (x[i] == y[i]) | (near & finite) | (nan & equal_nan);
  }
}

#define HEATPP_CLOSE(T)                                                                                    \
  HEATPP_SIMD void close(const T* x, const T* y, bool* out, std::int64_t n, const CloseOptions& options) { \
    close_run(x, y, out, n, options);                                                                      \
  }
HEATPP_CLOSE(float)
HEATPP_CLOSE(double)
#undef HEATPP_CLOSE

template <class T>
DNDarray close_as(const Operand& a, const Operand& b, const CloseOptions& options) {
  using Both = Arguments<T, T>;
  const auto plan = plan_map("isclose", {a, b}, Both::dtypes);
  auto result = map_result(plan, bool_);
  auto* const out = static_cast<bool*>(data_of(result));
  in_parallel(plan.size, [&](std::int64_t begin, std::int64_t end) {
    for_each_piece(Both(), plan, begin, end, [&](std::int64_t first, std::int64_t count, const T* x, const T* y) {
      close(x, y, out + first, count, options);
    });
  });
  return result;
}

bool is_simple(const Operand& operand) {
  if (!operand.array()) return !operand.number().is_complex();
  const auto dtype = operand.array()->dtype();
  return operand.array()->device() == cpu && !is_complex(dtype) && dtype != float16 && dtype != bfloat16;
}
bool is_single(const Operand& operand) {
  return operand.array() ? operand.array()->dtype() == float32 : is_floating(operand.number().default_dtype());
}

}  // namespace

std::optional<DNDarray> close_in_one_pass(const Operand& a, const Operand& b, const CloseOptions& options) {
  if (!is_simple(a) || !is_simple(b)) return std::nullopt;
  // Whole numbers are compared in float64.
  return is_single(a) && is_single(b) ? close_as<float>(a, b, options) : close_as<double>(a, b, options);
}

}  // namespace heatpp::detail

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/detail/first_extremum.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::detail {
namespace {

constexpr std::int64_t lanes = 32;
constexpr std::int64_t chunk = 8192;  // stays in the first-level cache, so that looking for the position costs little

/// The extreme value of a chunk in `lanes` interleaved streams, which the compiler turns into vector instructions.
/// NaN is left out of it and reported.
template <class T, bool Largest>
inline __attribute__((always_inline)) bool extreme_value(const T* data, std::int64_t n, T& result) {
  T best[lanes];
  int nan[lanes] = {};
  std::fill_n(best, lanes, result);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t j = 0; j < lanes; ++j) {
      const T v = data[i + j];
      best[j] = (Largest ? v > best[j] : v < best[j]) ? v : best[j];
      nan[j] |= v != v;
    }
  for (; i < n; ++i) {
    best[0] = (Largest ? data[i] > best[0] : data[i] < best[0]) ? data[i] : best[0];
    nan[0] |= data[i] != data[i];
  }
  result = Largest ? *std::max_element(best, best + lanes) : *std::min_element(best, best + lanes);
  return std::any_of(nan, nan + lanes, [](int flag) { return flag != 0; });
}

#define HEATPP_EXTREME(T)                                                                                \
  HEATPP_SIMD bool extreme(const T* data, std::int64_t n, bool largest, T& result) {                     \
    return largest ? extreme_value<T, true>(data, n, result) : extreme_value<T, false>(data, n, result); \
  }
HEATPP_EXTREME(float)
HEATPP_EXTREME(double)
HEATPP_EXTREME(std::int32_t)
HEATPP_EXTREME(std::int64_t)
#undef HEATPP_EXTREME

}  // namespace

template <class T>
Found<T> first_extremum(const T* data, std::int64_t n, bool largest) {
  if (n == 0) return {};
  // Not a number cannot be compared with: the search starts at the first number, if that comes before any NaN.
  if (data[0] != data[0]) return {data[0], 0};
  Found<T> found{data[0], 0};
  std::int64_t where = 0;
  for (std::int64_t first = 0; first < n; first += chunk) {
    const auto length = std::min(chunk, n - first);
    T value = found.value;
    if (extreme(data + first, length, largest, value)) {
      const auto* nan = std::find_if(data + first, data + first + length, [](T v) { return v != v; });
      return {*nan, nan - data};
    }
    if (value == found.value) continue;
    found.value = value;
    where = first;
  }
  found.position = std::find(data + where, data + n, found.value) - data;
  return found;
}

template Found<float> first_extremum(const float*, std::int64_t, bool);
template Found<double> first_extremum(const double*, std::int64_t, bool);
template Found<std::int32_t> first_extremum(const std::int32_t*, std::int64_t, bool);
template Found<std::int64_t> first_extremum(const std::int64_t*, std::int64_t, bool);

}  // namespace heatpp::detail

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

std::vector<Found<Ordered>> complex_extrema(const at::Tensor& block, std::int64_t axis, bool largest) {
  const auto x = block.resolve_conj().to(at::kCPU, at::kComplexDouble).contiguous();
  const auto* in = reinterpret_cast<const Ordered*>(x.const_data_ptr<c10::complex<double>>());
  const auto outer = c10::multiply_integers(x.sizes().slice(0, static_cast<std::size_t>(axis))), n = x.size(axis),
             inner = c10::multiply_integers(x.sizes().slice(static_cast<std::size_t>(axis) + 1));
  std::vector<Found<Ordered>> best(static_cast<std::size_t>(outer * inner));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < inner; ++j) {
        auto& found = best[static_cast<std::size_t>(o * inner + j)];
        found = better(found, {*in++, i}, largest);
      }
  return best;
}

at::Tensor complex_extremum(const at::Tensor& block, at::IntArrayRef axes, bool keepdims, bool largest) {
  auto result = block;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    auto shape = result.sizes().vec();
    shape[static_cast<std::size_t>(*axis)] = 1;
    const auto found = complex_extrema(result, *axis, largest);
    result = at::empty(shape, at::kComplexDouble);
    std::ranges::transform(found, result.mutable_data_ptr<c10::complex<double>>(),
                           [](const auto& f) { return c10::complex<double>(f.value.real, f.value.imag); });
    if (!keepdims) result = result.squeeze(*axis);
  }
  return result.to(block.options());
}

namespace {

template <bool Largest>
void merge_complex(const void* in, void* inout, std::int64_t n) {
  const auto* a = static_cast<const Ordered*>(in);
  auto* b = static_cast<Ordered*>(inout);
  for (std::int64_t i = 0; i < n; ++i) b[i] = better<Ordered>({a[i], 0}, {b[i], 1}, Largest).value;
}

}  // namespace

void complex_extremum_across(at::Tensor& block, const Communicator& comm, bool largest) {
  const auto wide = block.to(at::kCPU, at::kComplexDouble).contiguous();
  comm.allreduce_records(wide.data_ptr(), wide.numel(), sizeof(Ordered),
                         largest ? &merge_complex<true> : &merge_complex<false>);
  block = wide.to(block.options());
}

template Found<float> first_extremum(const float*, std::int64_t, bool);
template Found<double> first_extremum(const double*, std::int64_t, bool);
template Found<std::int32_t> first_extremum(const std::int32_t*, std::int64_t, bool);
template Found<std::int64_t> first_extremum(const std::int64_t*, std::int64_t, bool);

}  // namespace heatpp::detail

#include <heatpp/ops/reductions/detail/first_extremum.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/elementwise/detail/map_plan.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

namespace heatpp::detail {
namespace {

template <class T>
constexpr std::int64_t lanes = 256 / sizeof(T);
constexpr std::int64_t chunk = 32768;  // fits in the second-level cache, so that the search for the position is cheap

/// Finds the extreme value of a chunk in `lanes` interleaved streams, which the compiler vectorizes. NaN is ignored and
/// reported by sums, which cost least; sums of infinities may report it without need.
template <class T, bool Largest>
inline __attribute__((always_inline)) bool extreme_value(const T* data, std::int64_t n, T& result) {
  constexpr auto width = lanes<T>;
  T best[width];
  T sum[width] = {};
  std::fill_n(best, width, result);
  const auto look_at = [&](std::int64_t j, T v) __attribute__((always_inline)) {
    best[j] = (Largest ? v > best[j] : v < best[j]) ? v : best[j];
    if constexpr (std::is_floating_point_v<T>) sum[j] += v;
    else if constexpr (!std::is_integral_v<T>) sum[j] = v != v ? v : sum[j];
  };
  std::int64_t i = 0;
  for (; i + width <= n; i += width)
    for (std::int64_t j = 0; j < width; ++j) look_at(j, data[i + j]);
  for (; i < n; ++i) look_at(0, data[i]);
  result = Largest ? *std::max_element(best, best + width) : *std::min_element(best, best + width);
  return std::any_of(sum, sum + width, [](const T& v) { return v != v; });
}

/// Finds the first place of `value`, which exists: many elements at once, then each of the group that has it.
template <class T>
inline __attribute__((always_inline)) std::int64_t first_equal(const T* data, std::int64_t n, const T& value) {
  std::int64_t i = 0;
  for (; i + 2 * lanes<T> <= n; i += 2 * lanes<T>) {
    int found = 0;
    for (std::int64_t j = 0; j < 2 * lanes<T>; ++j) found |= data[i + j] == value;
    if (found) break;
  }
  return std::find(data + i, data + n, value) - data;
}

/// Whether a later value replaces the best one.
template <bool Largest, class T>
inline __attribute__((always_inline)) bool is_better(const T& v, const T& best) {
  return ((Largest ? v > best : v < best) | (v != v)) & (best == best);
}

/// Finds the first extreme of each of `width` columns, `stride` apart from row to row, and its row.
template <class T, bool Largest>
inline __attribute__((always_inline)) void extreme_columns(const T* data, std::int64_t n, std::int64_t stride,
                                                           std::int64_t width, T* __restrict best,
                                                           std::int64_t* __restrict rows) {
  std::copy_n(data, width, best);
  std::fill_n(rows, width, 0);
  for (std::int64_t i = 1; i < n; ++i) {
    const auto* __restrict row = data + i * stride;
    for (std::int64_t j = 0; j < width; ++j) {
      const T v = row[j], b = best[j];
      const bool better = is_better<Largest>(v, b);
      best[j] = better ? v : b;
      rows[j] = better ? i : rows[j];
    }
  }
}

#define HEATPP_EXTREME(attribute, T)                                                                            \
  attribute bool extreme(const T* data, std::int64_t n, bool largest, T& result) {                              \
    return largest ? extreme_value<T, true>(data, n, result) : extreme_value<T, false>(data, n, result);        \
  }                                                                                                             \
  attribute std::int64_t position(const T* data, std::int64_t n, const T& value) {                              \
    return first_equal(data, n, value);                                                                         \
  }                                                                                                             \
  attribute void extremes(const T* data, std::int64_t n, std::int64_t stride, std::int64_t width, bool largest, \
                          T* best, std::int64_t* rows) {                                                        \
    if (largest) extreme_columns<T, true>(data, n, stride, width, best, rows);                                  \
    else extreme_columns<T, false>(data, n, stride, width, best, rows);                                         \
  }
HEATPP_EXTREME(HEATPP_SIMD, std::uint8_t)
HEATPP_EXTREME(HEATPP_SIMD, std::int8_t)
HEATPP_EXTREME(HEATPP_SIMD, std::int16_t)
HEATPP_EXTREME(HEATPP_SIMD, std::int32_t)
HEATPP_EXTREME(HEATPP_SIMD, std::int64_t)
HEATPP_EXTREME(HEATPP_SIMD, float)
HEATPP_EXTREME(HEATPP_SIMD, double)
HEATPP_EXTREME(, Ordered)
#undef HEATPP_EXTREME

/// Works without branches, which are hard to predict for few values.
template <bool Largest, class T>
Found<T> first_of_few(const T* data, std::int64_t n) {
  Found<T> found{data[0], 0};
  for (std::int64_t i = 1; i < n; ++i) {
    const bool better = is_better<Largest>(data[i], found.value);
    found.position += better * (i - found.position);
    found.value = better ? data[i] : found.value;
  }
  return found;
}

/// Whether no other value comes before this one.
template <class T>
bool is_last(T value, bool largest) {
  if constexpr (!std::is_integral_v<T>) return false;
  else return value == (largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest());
}

/// Finds the extreme of at least one value, on one thread.
template <class T>
Found<T> first_of_range(const T* data, std::int64_t n, bool largest) {
  if (n < lanes<T>) return largest ? first_of_few<true>(data, n) : first_of_few<false>(data, n);
  // NaN cannot be compared, so the search starts at the first number, if that precedes any NaN.
  if (data[0] != data[0]) return {data[0], 0};
  Found<T> found{data[0], 0};
  std::int64_t where = 0;
  for (std::int64_t first = 0; first < n && !is_last(found.value, largest); first += chunk) {
    const auto length = std::min(chunk, n - first);
    T value = found.value;
    if (extreme(data + first, length, largest, value)) {
      const auto* nan = std::find_if(data + first, data + first + length, [](const T& v) { return v != v; });
      if (nan != data + first + length) return {*nan, nan - data};
    }
    if (value == found.value) continue;
    found.value = value;
    where = first;
  }
  found.position = where + position(data + where, n - where, found.value);
  return found;
}

template <class T>
Found<T> first_of_vector(const T* data, std::int64_t n, bool largest) {
  std::mutex mutex;
  Found<T> best;
  in_parallel(n, [&](std::int64_t begin, std::int64_t end) {
    auto found = first_of_range(data + begin, end - begin, largest);
    found.position += begin;
    const std::lock_guard lock(mutex);
    best = better(best, found, largest);
  });
  return best;
}

template <class T>
Found<Wide<T>> widened(const Found<T>& found) {
  return {static_cast<Wide<T>>(found.value), found.position};
}

/// Columns that are processed together: few enough that their extremes fit in the first-level cache.
constexpr std::int64_t tile = 512;

template <class T>
void first_of_columns(const T* data, std::int64_t n, std::int64_t stride, std::int64_t width, bool largest,
                      Found<Wide<T>>* out) {
  std::array<T, tile> best;
  std::array<std::int64_t, tile> rows;
  extremes(data, n, stride, width, largest, best.data(), rows.data());
  for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j) out[j] = {static_cast<Wide<T>>(best[j]), rows[j]};
}

/// Calls f(i) for each i below `count`, which reads `work` elements, on all threads.
template <class F>
void for_each_of(std::int64_t count, std::int64_t work, F f) {
  in_parallel(count * work, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = (begin + work - 1) / work; i * work < end; ++i) f(i);
  });
}

}  // namespace

template <class T>
std::vector<Found<Wide<T>>> first_extrema(const T* data, const Around& extents, bool largest) {
  const auto [outer, n, inner] = extents;
  std::vector<Found<Wide<T>>> best(static_cast<std::size_t>(extents.others()));
  if (n == 0 || best.empty()) return best;
  if (best.size() == 1) {
    best[0] = widened(first_of_vector(data, n, largest));
  } else if (inner == 1) {
    for_each_of(outer, n, [&](std::int64_t o) {
      best[static_cast<std::size_t>(o)] = widened(first_of_range(data + o * n, n, largest));
    });
  } else {
    const auto tiles = (inner + tile - 1) / tile;
    for_each_of(outer * tiles, n * std::min(tile, inner), [&](std::int64_t i) {
      const auto o = i / tiles, j = i % tiles * tile;
      first_of_columns(data + o * n * inner + j, n, inner, std::min(tile, inner - j), largest,
                       &best[static_cast<std::size_t>(o * inner + j)]);
    });
  }
  return best;
}

std::vector<Found<Ordered>> complex_extrema(const at::Tensor& block, std::int64_t axis, bool largest) {
  const auto view = around_axes(block.resolve_conj().to(at::kCPU, at::kComplexDouble), axis);
  const auto* in = reinterpret_cast<const Ordered*>(view.data.const_data_ptr<c10::complex<double>>());
  return view.order.restored(first_extrema(in, view.extents, largest), view.kept);
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

#define HEATPP_FIRST_EXTREMA(T, name) \
  template std::vector<Found<Wide<T>>> first_extrema(const T* data, const Around& extents, bool largest);
AT_FORALL_SCALAR_TYPES(HEATPP_FIRST_EXTREMA)
#undef HEATPP_FIRST_EXTREMA

}  // namespace heatpp::detail

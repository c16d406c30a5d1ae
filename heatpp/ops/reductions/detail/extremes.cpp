#include <heatpp/ops/reductions/detail/extremes.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <ATen/Dispatch.h>
#include <algorithm>

namespace heatpp::detail {
namespace {

constexpr std::int64_t short_row = 32;
constexpr std::int64_t most_columns = 512;  // whose extremes stay in the first-level cache

/// Adds rows of `width` neighbors, `stride` elements apart, to the extremes of each column.
template <class T>
[[gnu::always_inline]] inline void extremes_of_rows(const T* x, std::int64_t rows, std::int64_t stride,
                                                    std::int64_t width, T* __restrict least, T* __restrict most) {
  for (std::int64_t i = 0; i < rows; ++i, x += stride)
    for (std::int64_t j = 0; j < width; ++j) {
      const T value = x[j], low = least[j], high = most[j];
      least[j] = (value < low) | (value != value) ? value : low;
      most[j] = (value > high) | (value != value) ? value : high;
    }
}

template <class T, bool Largest>
[[gnu::always_inline]] inline T extreme_of_two(T a, T b) {
  return (Largest ? b > a : b < a) | (b != b) ? b : a;
}

/// Returns one extreme of n neighbors, compared in lanes that fill vectors. The last ones are compared twice.
template <class T, bool Largest>
[[gnu::always_inline]] inline T extreme_of_line(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = 256 / static_cast<std::int64_t>(sizeof(T));  // bytes: four wide vectors or more
  T result = Largest ? Extremes<T>{}.most : Extremes<T>{}.least;
  if (n < lanes) {
    for (std::int64_t i = 0; i < n; ++i) result = extreme_of_two<T, Largest>(result, x[i]);
    return result;
  }
  T kept[lanes];
  std::copy_n(x, lanes, kept);
  for (std::int64_t i = lanes; i < n; i += lanes) {
    const auto* const next = x + std::min(i, n - lanes);
    for (std::int64_t l = 0; l < lanes; ++l) kept[l] = extreme_of_two<T, Largest>(kept[l], next[l]);
  }
  for (auto half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) kept[l] = extreme_of_two<T, Largest>(kept[l], kept[l + half]);
  return kept[0];
}

/// Adds one extreme of each of `count` rows of n numbers, several at a time, because a short row does not fill vectors.
template <class T, bool Largest>
[[gnu::always_inline]] inline void extremes_of_short_rows(const T* x, std::int64_t count, std::int64_t n,
                                                          Extremes<T>* out) {
  constexpr std::int64_t together = 8;
  using Ends [[gnu::vector_size(together * sizeof(T))]] = T;
  constexpr auto kept = Largest ? &Extremes<T>::most : &Extremes<T>::least;
  std::int64_t row = 0;
  for (; row + together <= count; row += together) {
    const auto* const first = x + row * n;
    Ends ends = Extremes<T>{}.*kept - Ends{};
    for (std::int64_t i = 0; i < n; ++i) {
      const Ends next = {first[i],         first[n + i],     first[2 * n + i], first[3 * n + i],
                         first[4 * n + i], first[5 * n + i], first[6 * n + i], first[7 * n + i]};
      ends = ((Largest ? next > ends : next < ends) | (next != next)) ? next : ends;
    }
    for (std::int64_t r = 0; r < together; ++r)
      out[row + r].*kept = extreme_of_two<T, Largest>(out[row + r].*kept, ends[r]);
  }
  for (; row < count; ++row)
    for (std::int64_t i = 0; i < n; ++i) out[row].*kept = extreme_of_two<T, Largest>(out[row].*kept, x[row * n + i]);
}

#define HEATPP_EXTREMES(T, name)                                                                              \
  HEATPP_SIMD void add_rows(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width, T* least, \
                            T* most) {                                                                        \
    extremes_of_rows(x, rows, stride, width, least, most);                                                    \
  }                                                                                                           \
  HEATPP_SIMD T least_of(const T* x, std::int64_t n) { return extreme_of_line<T, false>(x, n); }              \
  HEATPP_SIMD T most_of(const T* x, std::int64_t n) { return extreme_of_line<T, true>(x, n); }                \
  HEATPP_SIMD void add_short_least(const T* x, std::int64_t count, std::int64_t n, Extremes<T>* out) {        \
    extremes_of_short_rows<T, false>(x, count, n, out);                                                       \
  }                                                                                                           \
  HEATPP_SIMD void add_short_most(const T* x, std::int64_t count, std::int64_t n, Extremes<T>* out) {         \
    extremes_of_short_rows<T, true>(x, count, n, out);                                                        \
  }
AT_FORALL_SCALAR_TYPES(HEATPP_EXTREMES)
#undef HEATPP_EXTREMES

/// Adds the extremes of rows in which `inner` columns repeat.
template <class T>
void add_columns(const T* data, std::int64_t rows, std::int64_t stride, std::int64_t width, std::int64_t inner,
                 Extremes<T>* out) {
  T least[most_columns], most[most_columns];
  std::fill_n(least, width, Extremes<T>{}.least);
  std::fill_n(most, width, Extremes<T>{}.most);
  add_rows(data, rows, stride, width, least, most);
  for (std::int64_t first = 0; first < width; first += inner)
    for (std::int64_t l = 0; l < inner; ++l) out[l].add({least[first + l], most[first + l]});
}

template <class T>
void line_extremes(const T* x, std::int64_t n, Extremes<T>& out, Extreme wanted) {
  Extremes<T> line;
  if (wanted != Extreme::most) line.least = least_of(x, n);
  if (wanted != Extreme::least) line.most = most_of(x, n);
  out.add(line);
}

/// Adds the extremes of an (n, inner) array. A few columns are read as many: several rows in parallel.
template <class T>
void matrix_extremes(const T* data, std::int64_t n, std::int64_t inner, Extremes<T>* out, Extreme wanted) {
  constexpr std::int64_t parallel = 64;
  if (inner == 1) return line_extremes(data, n, *out, wanted);
  in_columns(data, n, inner, parallel, most_columns,
             [out](const T* part, auto rows, auto stride, auto width, auto repeats, auto first) {
               add_columns(part, rows, stride, width, repeats, out + first);
             });
}

}  // namespace

template <class T>
void add_extremes(const T* data, const Around& extents, Extremes<T>* out, Extreme wanted) {
  const auto [outer, n, inner] = extents;
  if (extents.others() == 0) return;
  if (inner == 1 && n < short_row && outer > 1) {
    at::parallel_for(0, outer, std::max<std::int64_t>(1, worth_a_thread / std::max<std::int64_t>(1, n)),
                     [&, n = n](std::int64_t first, std::int64_t last) {
                       const auto* rows = data + first * n;
                       if (wanted != Extreme::most) add_short_least(rows, last - first, n, out + first);
                       if (wanted != Extreme::least) add_short_most(rows, last - first, n, out + first);
                     });
    return;
  }
  reduce_middle(
      extents, out,
      [=, inner = inner](std::int64_t first, std::int64_t rows, Extremes<T>* extremes) {
        matrix_extremes(data + first, rows, inner, extremes, wanted);
      },
      [](const Extremes<T>& from, Extremes<T>& into) { into.add(from); });
}

#define HEATPP_INSTANTIATE(T, name) template void add_extremes(const T*, const Around&, Extremes<T>*, Extreme);
AT_FORALL_SCALAR_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail

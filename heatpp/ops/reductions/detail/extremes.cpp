#include <heatpp/ops/reductions/detail/extremes.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <ATen/Dispatch.h>
#include <algorithm>

namespace heatpp::detail {
namespace {

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

#define HEATPP_EXTREMES(T, name)                                                                              \
  HEATPP_SIMD void add_rows(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width, T* least, \
                            T* most) {                                                                        \
    extremes_of_rows(x, rows, stride, width, least, most);                                                    \
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

/// Adds the extremes of an (n, inner) array. A few columns are read as many: several rows in parallel.
template <class T>
void matrix_extremes(const T* data, std::int64_t n, std::int64_t inner, Extremes<T>* out) {
  constexpr std::int64_t parallel = 64;
  if (inner < parallel) {
    const auto width = parallel / inner * inner, together = width / inner, tall = n / together;
    if (tall > 0) add_columns(data, tall, width, width, inner, out);
    if (n % together > 0) add_columns(data + tall * width, n % together, inner, inner, inner, out);
    return;
  }
  for (std::int64_t first = 0; first < inner; first += most_columns) {
    const auto width = std::min(most_columns, inner - first);
    add_columns(data + first, n, inner, width, width, out + first);
  }
}

}  // namespace

template <class T>
void add_extremes(const T* data, const Around& extents, Extremes<T>* out) {
  if (extents.others() == 0) return;
  reduce_middle(
      extents, out,
      [=, inner = extents.inner](std::int64_t first, std::int64_t rows, Extremes<T>* extremes) {
        matrix_extremes(data + first, rows, inner, extremes);
      },
      [](const Extremes<T>& from, Extremes<T>& into) { into.add(from); });
}

#define HEATPP_INSTANTIATE(T, name) template void add_extremes(const T*, const Around&, Extremes<T>*);
AT_FORALL_SCALAR_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail

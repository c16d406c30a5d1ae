#include <heatpp/ops/reductions/detail/float_sums.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <ATen/EmptyTensor.h>
#include <algorithm>
#include <cstring>

namespace heatpp::detail {
namespace {

constexpr std::int64_t short_elements = 4096;

/// Vectors of 32 bytes, and of as many doubles.
template <class T>
struct Vector {
  static constexpr std::int64_t lanes = 32 / static_cast<std::int64_t>(sizeof(T));
  using Type [[gnu::vector_size(32)]] = T;
  using Doubles [[gnu::vector_size(lanes * sizeof(double))]] = double;
};
template <class T>
using Doubles = typename Vector<T>::Doubles;

template <class T>
[[gnu::always_inline]] inline typename Vector<T>::Type vector_at(const T* x) {
  typename Vector<T>::Type elements;
  std::memcpy(&elements, x, sizeof elements);
  return elements;
}
/// Returns the sums of four or eight rows of neighbors, of which the first begins at x.
template <int together, class T>
[[gnu::always_inline]] inline typename Vector<T>::Type rows_at(const T* x, std::int64_t stride) {
  if constexpr (together == 8) return rows_at<4>(x, stride) + rows_at<4>(x + 4 * stride, stride);
  else return (vector_at(x) + vector_at(x + stride)) + (vector_at(x + 2 * stride) + vector_at(x + 3 * stride));
}
template <int together, class T>
[[gnu::always_inline]] inline Doubles<T> sums_of_rows(const T* x, std::int64_t stride) {
  return __builtin_convertvector(rows_at<together>(x, stride), Doubles<T>);
}
template <class T>
[[gnu::always_inline]] inline double total_of(typename Vector<T>::Type sums) {
  const auto all = __builtin_convertvector(sums, Doubles<T>);
  double total = 0;
  for (std::int64_t l = 0; l < Vector<T>::lanes / 2; ++l) total += all[l] + all[l + Vector<T>::lanes / 2];
  return total;
}

/// Adds pieces of 128 vectors, each in eight sums that need not wait for each other. Few float32 are added before they
/// become float64, so that errors grow slowly.
template <class T>
[[gnu::always_inline]] inline double added(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = Vector<T>::lanes, sums = 8, piece = 16 * sums * lanes;
  double total = 0;
  for (std::int64_t first = 0; first < n; first += piece) {
    typename Vector<T>::Type kept[sums] = {};
    auto i = first;
    const auto end = std::min(n, first + piece);
    for (; i + sums * lanes <= end; i += sums * lanes)
#pragma GCC unroll 8
      for (std::int64_t s = 0; s < sums; ++s) kept[s] += vector_at(x + i + s * lanes);
    for (; i + lanes <= end; i += lanes) kept[0] += vector_at(x + i);
    for (; i < end; ++i) total += static_cast<double>(x[i]);
    total += total_of<T>(((kept[0] + kept[1]) + (kept[2] + kept[3])) + ((kept[4] + kept[5]) + (kept[6] + kept[7])));
  }
  return total;
}

/// Adds few numbers in float64.
template <class T>
[[gnu::always_inline]] inline double added_precisely(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = 16;
  double sums[lanes] = {}, total = 0;
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) sums[l] += x[i + l];
  for (; i < n; ++i) total += static_cast<double>(x[i]);
  for (const auto sum : sums) total += sum;
  return total;
}

/// Adds `count` rows of n numbers each to `out`, several at a time, because a short row does not fill vectors.
template <class T>
[[gnu::always_inline]] inline void add_short_rows(const T* x, std::int64_t count, std::int64_t n, double* out) {
  constexpr std::int64_t together = 8;
  std::int64_t row = 0;
  for (; row + together <= count; row += together) {
    double sums[together] = {};
    for (std::int64_t i = 0; i < n; ++i)
#pragma GCC unroll 8
      for (std::int64_t r = 0; r < together; ++r) sums[r] += static_cast<double>(x[(row + r) * n + i]);
    for (std::int64_t r = 0; r < together; ++r) out[row + r] += sums[r];
  }
  for (; row < count; ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[row * n + i]);
    out[row] += sum;
  }
}

/// Adds four or eight rows of `columns` neighbors to `out`.
template <int together, class T>
[[gnu::always_inline]] inline void add_rows_together(const T* x, std::int64_t stride, std::int64_t columns,
                                                     double* __restrict out) {
  std::int64_t j = 0;
  for (; j + Vector<T>::lanes <= columns; j += Vector<T>::lanes) {
    Doubles<T> sums;
    std::memcpy(&sums, out + j, sizeof sums);
    sums += sums_of_rows<together>(x + j, stride);
    std::memcpy(out + j, &sums, sizeof sums);
  }
  for (; j < columns; ++j)
    for (int row = 0; row < together; ++row) out[j] += static_cast<double>(x[j + row * stride]);
}

/// Adds rows of `columns` neighbors to `out`. Eight rows at a time, because each sum is read and written once for them.
template <class T>
[[gnu::always_inline]] inline void add_each_column(const T* x, std::int64_t rows, std::int64_t stride,
                                                   std::int64_t columns, double* __restrict out) {
  std::int64_t i = 0;
  for (; i + 8 <= rows; i += 8, x += 8 * stride) add_rows_together<8>(x, stride, columns, out);
  for (; i + 4 <= rows; i += 4, x += 4 * stride) add_rows_together<4>(x, stride, columns, out);
  for (; i < rows; ++i, x += stride)
    for (std::int64_t j = 0; j < columns; ++j) out[j] += static_cast<double>(x[j]);
}

constexpr std::int64_t in_registers = 32;  // columns whose sums stay there

/// Adds rows of that many neighbors to `out`.
template <class T>
[[gnu::always_inline]] inline void add_few_columns(const T* x, std::int64_t rows, double* out) {
  constexpr std::int64_t lanes = Vector<T>::lanes, vectors = in_registers / lanes;
  Doubles<T> sums[vectors] = {};
  std::int64_t i = 0;
  for (; i + 4 <= rows; i += 4, x += 4 * in_registers)
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v) sums[v] += sums_of_rows<4>(x + v * lanes, in_registers);
  for (std::int64_t v = 0; v < vectors; ++v)
    for (std::int64_t l = 0; l < lanes; ++l) out[v * lanes + l] += sums[v][l];
  for (; i < rows; ++i, x += in_registers)
    for (std::int64_t l = 0; l < in_registers; ++l) out[l] += static_cast<double>(x[l]);
}

#define HEATPP_FLOAT_SUMS(T)                                                                                          \
  HEATPP_SIMD double sum_of(const T* x, std::int64_t n) { return added(x, n); }                                       \
  HEATPP_SIMD double short_sum_of(const T* x, std::int64_t n) { return added_precisely(x, n); }                       \
  HEATPP_SIMD void add_float_rows(const T* x, std::int64_t count, std::int64_t n, double* out) {                      \
    add_short_rows(x, count, n, out);                                                                                 \
  }                                                                                                                   \
  HEATPP_SIMD void add_float_registers(const T* x, std::int64_t rows, double* out) { add_few_columns(x, rows, out); } \
  HEATPP_SIMD void add_float_columns(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,        \
                                     double* out) {                                                                   \
    add_each_column(x, rows, stride, columns, out);                                                                   \
  }
HEATPP_FLOAT_SUMS(float)
HEATPP_FLOAT_SUMS(double)
#undef HEATPP_FLOAT_SUMS

constexpr std::int64_t short_row = 32;
constexpr std::int64_t most_sums = 1024;  // columns whose sums stay in the first-level cache

/// Adds rows in which `inner` columns repeat.
template <class T>
void add_repeated(const T* data, std::int64_t rows, std::int64_t stride, std::int64_t width, std::int64_t inner,
                  double* out) {
  double sums[most_sums];
  std::fill_n(sums, width, 0.0);
  if (width == in_registers && stride == width) add_float_registers(data, rows, sums);
  else add_float_columns(data, rows, stride, width, sums);
  for (std::int64_t first = 0; first < width; first += inner)
    for (std::int64_t l = 0; l < inner; ++l) out[l] += sums[first + l];
}

/// Adds the columns of an (n, inner) array. A few columns are read as many: several rows in parallel.
template <class T>
void add_matrix(const T* data, std::int64_t n, std::int64_t inner, double* out) {
  const auto parallel = in_registers % inner == 0 ? in_registers : 2 * in_registers;
  if (inner == 1) return void(*out += sum_of(data, n));
  in_columns(data, n, inner, parallel, most_sums,
             [out](const T* part, auto rows, auto stride, auto width, auto repeats, auto first) {
               add_repeated(part, rows, stride, width, repeats, out + first);
             });
}

template <class T>
void put_sum(const at::Tensor& block, const at::Tensor& sum) {
  *static_cast<T*>(sum.data_ptr()) =
      static_cast<T>(short_sum_of(static_cast<const T*>(block.const_data_ptr()), block.numel()));
}

}  // namespace

bool is_short(const at::Tensor& block) {
  const auto type = block.scalar_type();
  return (type == at::kFloat || type == at::kDouble) && block.numel() <= short_elements && block.is_cpu() &&
         block.is_contiguous() && !block.is_neg();
}

at::Tensor short_sum(const at::Tensor& block) {
  auto sum = at::Tensor(at::detail::empty_cpu({}, block.scalar_type()));
  block.scalar_type() == at::kFloat ? put_sum<float>(block, sum) : put_sum<double>(block, sum);
  return sum;
}

template <class T>
void add_float_sums(const T* data, const Around& extents, double* out) {
  const auto [outer, n, inner] = extents;
  if (extents.others() == 0) return;
  if (inner == 1 && n < short_row && outer > 1) {
    at::parallel_for(0, outer, std::max<std::int64_t>(1, worth_a_thread / std::max<std::int64_t>(1, n)),
                     [&, n = n](std::int64_t first, std::int64_t last) {
                       add_float_rows(data + first * n, last - first, n, out + first);
                     });
    return;
  }
  reduce_middle(
      extents, out,
      [=, inner = inner](std::int64_t first, std::int64_t rows, double* sums) {
        add_matrix(data + first, rows, inner, sums);
      },
      [](double from, double& into) { into += from; });
}
template void add_float_sums(const float*, const Around&, double*);
template void add_float_sums(const double*, const Around&, double*);

}  // namespace heatpp::detail

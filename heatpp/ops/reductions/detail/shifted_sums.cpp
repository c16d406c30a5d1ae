#include <heatpp/ops/reductions/detail/shifted_sums.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <ATen/Dispatch.h>
#include <cstring>

namespace heatpp::detail {
namespace {

constexpr std::int64_t lanes = 4;
using Doubles [[gnu::vector_size(lanes * sizeof(double))]] = double;
template <class T>
struct Elements {
  using Type [[gnu::vector_size(lanes * sizeof(T))]] = T;
};

/// Sums in vectors, as GCC makes none of a loop over lanes that are kept in registers.
struct LineSums {
  Doubles first = {}, second = {};

  template <class T>
  [[gnu::always_inline]] void add(const T* x, double near) {
    typename Elements<T>::Type elements;
    std::memcpy(&elements, x, sizeof elements);
    const Doubles d = __builtin_convertvector(elements, Doubles) - near;
    first += d;
    second += d * d;
  }
  [[gnu::always_inline]] void add_one(double d) {
    first[0] += d;
    second[0] += d * d;
  }
  [[gnu::always_inline]] ShiftedSums total() const {
    ShiftedSums sums;
    for (std::int64_t l = 0; l < lanes / 2; ++l) {
      sums.first += first[l] + first[l + lanes / 2];
      sums.second += second[l] + second[l + lanes / 2];
    }
    return sums;
  }
};

template <class T>
[[gnu::always_inline]] inline ShiftedSums along_line(const T* x, std::int64_t n, double near) {
  LineSums a, b, c, d;  // additions that need not wait for each other
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a.add(x + i, near);
    b.add(x + i + lanes, near);
    c.add(x + i + 2 * lanes, near);
    d.add(x + i + 3 * lanes, near);
  }
  for (; i < n; ++i) a.add_one(static_cast<double>(x[i]) - near);
  return LineSums{(a.first + b.first) + (c.first + d.first), (a.second + b.second) + (c.second + d.second)}.total();
}

/// Four rows at a time, because each sum is read and written once for them.
template <class T>
[[gnu::always_inline]] inline void along_columns(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width,
                                                 const double* __restrict near, double* __restrict first,
                                                 double* __restrict second) {
  std::int64_t i = 0;
  for (; i + 4 <= rows; i += 4, x += 4 * stride) {
    // The next rows, too, which hardware does not predict if rows are far apart or pages small.
    for (auto ahead = x + 4 * stride; ahead < x + 8 * stride; ahead += stride)
      for (std::int64_t j = 0; j < width; j += 64 / static_cast<std::int64_t>(sizeof(T))) __builtin_prefetch(ahead + j);
    for (std::int64_t j = 0; j < width; ++j) {
      const double m = near[j], a = static_cast<double>(x[j]) - m, b = static_cast<double>(x[j + stride]) - m,
                   c = static_cast<double>(x[j + 2 * stride]) - m, d = static_cast<double>(x[j + 3 * stride]) - m;
      first[j] += (a + b) + (c + d);
      second[j] += (a * a + b * b) + (c * c + d * d);
    }
  }
  for (; i < rows; ++i, x += stride)
    for (std::int64_t j = 0; j < width; ++j) {
      const double a = static_cast<double>(x[j]) - near[j];
      first[j] += a;
      second[j] += a * a;
    }
}

#define HEATPP_SHIFTED(T, name)                                                                               \
  HEATPP_SIMD ShiftedSums line_of(const T* x, std::int64_t n, double near) { return along_line(x, n, near); } \
  HEATPP_SIMD void columns_of(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width,         \
                              const double* near, double* first, double* second) {                            \
    along_columns(x, rows, stride, width, near, first, second);                                               \
  }
AT_FORALL_SCALAR_TYPES(HEATPP_SHIFTED)
#undef HEATPP_SHIFTED

}  // namespace

template <class T>
ShiftedSums shifted_line_sums(const T* x, std::int64_t n, double near) {
  return line_of(x, n, near);
}

template <class T>
void add_shifted_column_sums(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width, const double* near,
                             double* first, double* second) {
  columns_of(x, rows, stride, width, near, first, second);
}

#define HEATPP_INSTANTIATE(T, name)                                                                                 \
  template ShiftedSums shifted_line_sums(const T*, std::int64_t, double);                                           \
  template void add_shifted_column_sums(const T*, std::int64_t, std::int64_t, std::int64_t, const double*, double*, \
                                        double*);
AT_FORALL_SCALAR_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail

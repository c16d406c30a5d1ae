#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/detail/central_sums.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace heatpp::detail {
namespace {

constexpr std::int64_t lanes = 16;        // columns summed side by side: two or four vector registers a sum
constexpr std::int64_t block_rows = 256;  // rows whose lanes stay in the first-level cache between the two passes

/// A block's sums for `lanes` columns: first the mean, then the powers about it.
template <class T, int Order>
[[gnu::always_inline]] inline void block_sums(const T* data, std::int64_t rows, std::int64_t stride, CentralSums* out) {
  double mean[lanes] = {}, m2[lanes] = {}, m3[lanes] = {}, m4[lanes] = {};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t l = 0; l < lanes; ++l) mean[l] += static_cast<double>(data[i * stride + l]);
  for (std::int64_t l = 0; l < lanes; ++l) mean[l] /= static_cast<double>(rows);
  if constexpr (Order > 1)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t l = 0; l < lanes; ++l) {
        const double d = static_cast<double>(data[i * stride + l]) - mean[l], d2 = d * d;
        m2[l] += d2;
        if constexpr (Order > 2) {
          m3[l] += d2 * d;
          m4[l] += d2 * d2;
        }
      }
  for (std::int64_t l = 0; l < lanes; ++l) out[l] = {static_cast<double>(rows), mean[l], m2[l], m3[l], m4[l]};
}

template <class T>
using Kernel = void (*)(const T*, std::int64_t, std::int64_t, CentralSums*);

HEATPP_SIMD void float1(const float* x, std::int64_t n, std::int64_t s, CentralSums* o) {
  block_sums<float, 1>(x, n, s, o);
}
HEATPP_SIMD void float2(const float* x, std::int64_t n, std::int64_t s, CentralSums* o) {
  block_sums<float, 2>(x, n, s, o);
}
HEATPP_SIMD void float4(const float* x, std::int64_t n, std::int64_t s, CentralSums* o) {
  block_sums<float, 4>(x, n, s, o);
}
HEATPP_SIMD void double1(const double* x, std::int64_t n, std::int64_t s, CentralSums* o) {
  block_sums<double, 1>(x, n, s, o);
}
HEATPP_SIMD void double2(const double* x, std::int64_t n, std::int64_t s, CentralSums* o) {
  block_sums<double, 2>(x, n, s, o);
}
HEATPP_SIMD void double4(const double* x, std::int64_t n, std::int64_t s, CentralSums* o) {
  block_sums<double, 4>(x, n, s, o);
}

Kernel<float> kernel(const float*, int order) { return order == 1 ? float1 : order == 2 ? float2 : float4; }
Kernel<double> kernel(const double*, int order) { return order == 1 ? double1 : order == 2 ? double2 : double4; }

/// Rows that are left over, one element at a time. An infinite one has no finite distance from itself.
template <class T>
void scalar_sums(const T* data, std::int64_t rows, std::int64_t width, CentralSums* out) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t l = 0; l < width; ++l) {
      const auto value = static_cast<double>(data[i * width + l]), d = value - value;
      merge_central_sums({1, value, d, d, d}, out[l]);
    }
}

/// Sums of an (n, inner) array with at least `lanes` columns. The last columns are read in a group that overlaps the
/// one before.
template <class T>
void wide_sums(const T* data, std::int64_t n, std::int64_t inner, int order, CentralSums* out) {
  const auto run = kernel(data, order);
  CentralSums part[lanes];
  for (std::int64_t row = 0; row < n; row += block_rows) {
    const auto rows = std::min(block_rows, n - row);
    for (std::int64_t column = 0; column < inner; column += lanes) {
      const auto first = std::min(column, inner - lanes);
      run(data + row * inner + first, rows, inner, part);
      for (auto l = column - first; l < lanes; ++l) merge_central_sums(part[l], out[first + l]);
    }
  }
}

/// Sums of an (n, inner) array. Few columns are read as many: several rows side by side.
template <class T>
void matrix_sums(const T* data, std::int64_t n, std::int64_t inner, int order, CentralSums* out) {
  if (inner >= lanes) return wide_sums(data, n, inner, order, out);
  const auto together = lanes / std::gcd(lanes, inner);
  const auto width = inner * together, tall = n / together;
  std::vector<CentralSums> wide(static_cast<std::size_t>(width));
  wide_sums(data, tall, width, order, wide.data());
  for (std::int64_t l = 0; l < width; ++l) merge_central_sums(wide[static_cast<std::size_t>(l)], out[l % inner]);
  scalar_sums(data + tall * width, n % together, inner, out);
}

}  // namespace

void merge_central_sums(const CentralSums& a, CentralSums& b) {
  if (a.n == 0) return;
  if (b.n == 0) {
    b = a;
    return;
  }
  const double n = a.n + b.n, delta = b.mean - a.mean, d_n = delta / n, d_n2 = d_n * d_n;
  const double cross = delta * d_n * a.n * b.n;
  b.m4 += a.m4 + cross * d_n2 * (a.n * a.n - a.n * b.n + b.n * b.n) + 6 * d_n2 * (a.n * a.n * b.m2 + b.n * b.n * a.m2) +
          4 * d_n * (a.n * b.m3 - b.n * a.m3);
  b.m3 += a.m3 + cross * d_n * (a.n - b.n) + 3 * d_n * (a.n * b.m2 - b.n * a.m2);
  b.m2 += a.m2 + cross;
  if (std::isfinite(delta)) b.mean = a.mean + d_n * b.n;
  else if (std::isfinite(a.mean) && std::isfinite(b.mean)) b.mean = a.mean / n * a.n + b.mean / n * b.n;
  else b.mean += a.mean;
  b.n = n;
}

template <class T>
void central_sums(const T* data, std::int64_t outer, std::int64_t n, std::int64_t inner, int order, CentralSums* out) {
  constexpr std::int64_t worthwhile = 1 << 16;  // elements for one thread
  if (outer != 1) {
    at::parallel_for(0, outer, std::max<std::int64_t>(1, worthwhile / std::max<std::int64_t>(1, n * inner)),
                     [&](std::int64_t first, std::int64_t last) {
                       for (auto i = first; i < last; ++i)
                         matrix_sums(data + i * n * inner, n, inner, order, out + i * inner);
                     });
    return;
  }
  const auto threads = std::clamp<std::int64_t>(n * inner / worthwhile, 1, at::get_num_threads());
  std::vector<CentralSums> parts(static_cast<std::size_t>(threads * inner));
  at::parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto t = begin; t < end; ++t) {
      const auto first = n * t / threads, last = n * (t + 1) / threads;
      matrix_sums(data + first * inner, last - first, inner, order, parts.data() + t * inner);
    }
  });
  for (std::int64_t t = 0; t < threads; ++t)
    for (std::int64_t i = 0; i < inner; ++i) merge_central_sums(parts[static_cast<std::size_t>(t * inner + i)], out[i]);
}

template <class T>
void central_sums_where(const T* data, const bool* mask, std::int64_t lines, std::int64_t n, int order,
                        CentralSums* out) {
  constexpr std::int64_t piece = 4096;
  T kept[piece];
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t first = 0; first < n; first += piece) {
      const auto begin = line * n + first, end = line * n + std::min(n, first + piece);
      std::int64_t count = 0;
      for (auto i = begin; i < end; ++i) {
        kept[count] = data[i];
        count += mask[i];
      }
      central_sums(kept, 1, count, 1, order, out + line);
    }
}

template void central_sums_where(const float*, const bool*, std::int64_t, std::int64_t, int, CentralSums*);
template void central_sums_where(const double*, const bool*, std::int64_t, std::int64_t, int, CentralSums*);
template void central_sums(const float*, std::int64_t, std::int64_t, std::int64_t, int, CentralSums*);
template void central_sums(const double*, std::int64_t, std::int64_t, std::int64_t, int, CentralSums*);

}  // namespace heatpp::detail

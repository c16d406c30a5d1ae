#include <heatpp/ops/reductions/detail/central_sums.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/reductions/detail/shifted_sums.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

namespace heatpp::detail {
namespace {

constexpr std::int64_t lanes = 16;        // columns summed in parallel: two or four vector registers for each sum
constexpr std::int64_t block_rows = 256;  // rows whose lanes fit in the first-level cache between the two passes

/// Converts sums about a number near the mean, of which `m1` is that of the deviations, to sums about the mean.
inline CentralSums about_the_mean(double n, double near, double m1, double m2, double m3, double m4) {
  const double low = m1 - m1 == 0 ? m1 / n : 0, low2 = low * low;  // none next to numbers that are not finite
  return {n,
          near,
          low,
          m2 - n * low2,
          m3 - 3 * low * m2 + 2 * n * low * low2,
          m4 - 4 * low * m3 + 6 * low2 * m2 - 3 * n * low2 * low2};
}

/// Computes the sums of `rows` rows, `stride` elements apart, for `lanes` columns: first the mean, then the powers
/// about it. The columns are neighbors or, if `Apart`, begin at `places`.
template <class T, int Order, bool Apart>
[[gnu::always_inline]] inline void block_sums(const T* data, std::int64_t rows, std::int64_t stride,
                                              const std::int64_t* places, CentralSums* out) {
  const auto at = [=](std::int64_t i, std::int64_t l) __attribute__((always_inline)) {
    return static_cast<double>(data[i * stride + (Apart ? places[l] : l)]);
  };
  double mean[lanes] = {}, m1[lanes] = {}, m2[lanes] = {}, m3[lanes] = {}, m4[lanes] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    // The neighboring columns come next; hardware does not predict that if rows are far apart.
    if (!Apart) __builtin_prefetch(data + i * stride + lanes);
    for (std::int64_t l = 0; l < lanes; ++l) mean[l] += at(i, l);
  }
  for (std::int64_t l = 0; l < lanes; ++l) mean[l] /= static_cast<double>(rows);
  if constexpr (Order > 1)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t l = 0; l < lanes; ++l) {
        const double d = at(i, l) - mean[l], d2 = d * d;
        m1[l] += d;
        m2[l] += d2;
        if constexpr (Order > 2) {
          m3[l] += d2 * d;
          m4[l] += d2 * d2;
        }
      }
  for (std::int64_t l = 0; l < lanes; ++l)
    out[l] = about_the_mean(static_cast<double>(rows), mean[l], m1[l], m2[l], m3[l], m4[l]);
}

#define HEATPP_SUMS(T, order)                                                                                     \
  HEATPP_SIMD void sums##order(const T* data, std::int64_t rows, std::int64_t stride, const std::int64_t* places, \
                               CentralSums* out) {                                                                \
    if (places) block_sums<T, order, true>(data, rows, stride, places, out);                                      \
    else block_sums<T, order, false>(data, rows, stride, places, out);                                            \
  }
#define HEATPP_ALL_SUMS(T, name) HEATPP_SUMS(T, 1) HEATPP_SUMS(T, 2) HEATPP_SUMS(T, 4)
AT_FORALL_SCALAR_TYPES(HEATPP_ALL_SUMS)
#undef HEATPP_ALL_SUMS
#undef HEATPP_SUMS

template <class T>
using Kernel = void (*)(const T*, std::int64_t, std::int64_t, const std::int64_t*, CentralSums*);

template <class T>
Kernel<T> kernel(int order) {
  constexpr Kernel<T> of_one = sums1, of_two = sums2, of_four = sums4;
  return order == 1 ? of_one : order == 2 ? of_two : of_four;
}

/// Returns a + b and its rounding error.
std::pair<double, double> exact_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// Sums the remaining rows, one element at a time. An infinite element has no finite distance from itself.
template <class T>
void scalar_sums(const T* data, std::int64_t rows, std::int64_t width, CentralSums* out) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t l = 0; l < width; ++l) {
      const auto value = static_cast<double>(data[i * width + l]), d = value - value;
      merge_central_sums({1, value, 0, d, d, d}, out[l]);
    }
}

/// Sums n rows of at least `lanes` columns, `stride` elements apart. The last columns are read in a group that overlaps
/// the one before.
template <class T>
void wide_sums(const T* data, std::int64_t n, std::int64_t stride, std::int64_t width, int order, CentralSums* out) {
  const auto run = kernel<T>(order);
  CentralSums part[lanes];
  for (std::int64_t row = 0; row < n; row += block_rows) {
    const auto rows = std::min(block_rows, n - row);
    for (std::int64_t column = 0; column < width; column += lanes) {
      const auto first = std::min(column, width - lanes);
      run(data + row * stride + first, rows, stride, nullptr, part);
      for (auto l = column - first; l < lanes; ++l) merge_central_sums(part[l], out[first + l]);
    }
  }
}

/// Sums an (n, inner) array about the means of its blocks. A few columns are read as many: several rows in parallel.
template <class T>
void two_step_sums(const T* data, std::int64_t n, std::int64_t inner, int order, CentralSums* out) {
  if (inner >= lanes) return wide_sums(data, n, inner, inner, order, out);
  const auto together = lanes / std::gcd(lanes, inner);
  const auto width = inner * together, tall = n / together;
  std::vector<CentralSums> wide(static_cast<std::size_t>(width));
  wide_sums(data, tall, width, width, order, wide.data());
  for (std::int64_t l = 0; l < width; ++l) merge_central_sums(wide[static_cast<std::size_t>(l)], out[l % inner]);
  scalar_sums(data + tall * width, n % together, inner, out);
}

/// Converts sums about `near`, one of the n numbers. The square of its deviation is at most the sum of all squares, so
/// few digits are lost.
CentralSums about_the_mean(double n, double near, const ShiftedSums& sums) {
  const auto [mean, low] = exact_sum(near, sums.first / n);
  return {.n = n, .mean = mean, .low = low, .m2 = sums.second - sums.first * (sums.first / n)};
}

/// Whether the sums count: infinite elements are infinitely far from each other.
bool is_usable(const ShiftedSums& sums) { return std::isfinite(sums.first) && std::isfinite(sums.second); }

/// Computes the sums of n neighbors in one step.
template <class T>
void line_sums(const T* data, std::int64_t n, CentralSums* out) {
  constexpr std::int64_t piece = 4096;
  for (std::int64_t first = 0; first < n; first += piece) {
    const auto count = std::min(piece, n - first);
    const auto near = static_cast<double>(data[first]);
    const auto sums = shifted_line_sums(data + first, count, near);
    if (is_usable(sums)) merge_central_sums(about_the_mean(static_cast<double>(count), near, sums), *out);
    else two_step_sums(data + first, count, 1, 2, out);
  }
}

/// The sums of up to `most` columns about their first elements.
class ColumnSums {
 public:
  static constexpr std::int64_t most = 512;

  /// Reads rows of `width` neighbors, `stride` elements apart, in which `inner` columns repeat.
  template <class T>
  ColumnSums(const T* data, std::int64_t rows, std::int64_t stride, std::int64_t width, std::int64_t inner)
      : n_(static_cast<double>(rows * (width / inner))) {
    for (std::int64_t l = 0; l < inner; ++l) near_[l] = static_cast<double>(data[l]);
    for (auto l = inner; l < width; ++l) near_[l] = near_[l - inner];
    std::fill_n(sums_[0], width, 0.0);
    std::fill_n(sums_[1], width, 0.0);
    add_shifted_column_sums(data, rows, stride, width, near_, sums_[0], sums_[1]);
    for (auto* sums : sums_)
      for (std::int64_t first = inner; first < width; first += inner)
        for (std::int64_t l = 0; l < inner; ++l) sums[l] += sums[first + l];
  }
  /// Merges the columns into `out`, or returns false if one of them is not usable.
  bool merge_into(CentralSums* out, std::int64_t inner) const {
    for (std::int64_t l = 0; l < inner; ++l)
      if (!is_usable({sums_[0][l], sums_[1][l]})) return false;
    for (std::int64_t l = 0; l < inner; ++l)
      merge_central_sums(about_the_mean(n_, near_[l], {sums_[0][l], sums_[1][l]}), out[l]);
    return true;
  }

 private:
  double n_;
  double near_[most], sums_[2][most];
};

/// Computes the sums of the n rows of a few columns in one step, `together` rows in parallel.
template <class T>
void narrow_column_sums(const T* data, std::int64_t n, std::int64_t inner, std::int64_t together, CentralSums* out) {
  constexpr std::int64_t steps = 64;
  for (std::int64_t row = 0; row < n;) {
    const auto width = inner * std::min(together, n - row), rows = std::min(steps, (n - row) * inner / width);
    const auto* first = data + row * inner;
    const auto taken = rows * width / inner;
    if (!ColumnSums(first, rows, width, width, inner).merge_into(out, inner))
      two_step_sums(first, taken, inner, 2, out);
    row += taken;
  }
}

/// Computes the sums of the n rows of at least `lanes` columns in one step, by parts that stay in the cache.
template <class T>
void wide_column_sums(const T* data, std::int64_t n, std::int64_t inner, CentralSums* out) {
  constexpr auto most = ColumnSums::most;
  for (std::int64_t row = 0; row < n; row += block_rows)
    for (std::int64_t column = 0, width = 0; column < inner; column += width) {
      const auto rest = inner - column;
      width = rest <= most          ? rest
              : rest < most + lanes ? most - lanes
                                    : most;  // the last part has `lanes` columns, too
      const auto rows = std::min(block_rows, n - row);
      const auto* first = data + row * inner + column;
      if (!ColumnSums(first, rows, inner, width, width).merge_into(out + column, width))
        wide_sums(first, rows, inner, width, 2, out + column);
    }
}

/// Computes the sums of an (n, inner) array: up to the squares in one step.
template <class T>
void matrix_sums(const T* data, std::int64_t n, std::int64_t inner, int order, CentralSums* out) {
  constexpr std::int64_t parallel = 128;
  if (order > 2 || inner == 0) two_step_sums(data, n, inner, order, out);
  else if (inner == 1) line_sums(data, n, out);
  else if (inner < parallel) narrow_column_sums(data, n, inner, parallel / inner, out);
  else wide_column_sums(data, n, inner, out);
}

/// Sums of few elements each, for the results first .. last: `lanes` results at a time, at any places.
template <class T>
void short_sums(const T* data, const Around& extents, std::int64_t first, std::int64_t last, int order,
                CentralSums* out) {
  const auto run = kernel<T>(order);
  std::int64_t places[lanes];
  CentralSums part[lanes];
  for (; first < last; first += lanes) {
    const auto count = std::min(lanes, last - first);
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto i = first + std::min(l, count - 1);
      places[l] = i / extents.inner * extents.n * extents.inner + i % extents.inner;
    }
    run(data, extents.n, extents.inner, places, part);
    std::copy_n(part, count, out + first);
  }
}

}  // namespace

void merge_central_sums(const CentralSums& a, CentralSums& b) {
  if (a.n == 0) return;
  if (b.n == 0) {
    b = a;
    return;
  }
  const double n = a.n + b.n, delta = b.mean - a.mean + (b.low - a.low), d_n = delta / n, d_n2 = d_n * d_n;
  const double cross = delta * d_n * a.n * b.n;
  b.m4 += a.m4 + cross * d_n2 * (a.n * a.n - a.n * b.n + b.n * b.n) + 6 * d_n2 * (a.n * a.n * b.m2 + b.n * b.n * a.m2) +
          4 * d_n * (a.n * b.m3 - b.n * a.m3);
  b.m3 += a.m3 + cross * d_n * (a.n - b.n) + 3 * d_n * (a.n * b.m2 - b.n * a.m2);
  b.m2 += a.m2 + cross;
  if (std::isfinite(delta)) std::tie(b.mean, b.low) = exact_sum(a.mean, d_n * b.n + a.low);
  else if (std::isfinite(a.mean) && std::isfinite(b.mean)) b.mean = a.mean / n * a.n + b.mean / n * b.n;
  else b.mean += a.mean;
  b.n = n;
}

template <class T>
void central_sums(const T* data, const Around& extents, int order, CentralSums* out) {
  const auto [outer, n, inner] = extents;
  const bool lines = order <= 2 && inner == 1 && n >= lanes;
  if (outer != 1 && n > 0 && n <= block_rows && inner > 0 && inner < lanes && !lines) {
    at::parallel_for(0, outer, std::max<std::int64_t>(1, worth_a_thread / (n * inner)),
                     [&, inner = inner](std::int64_t first, std::int64_t last) {
                       short_sums(data, extents, first * inner, last * inner, order, out);
                     });
    return;
  }
  reduce_middle(
      extents, out,
      [=, inner = inner](std::int64_t first, std::int64_t rows, CentralSums* sums) {
        matrix_sums(data + first, rows, inner, order, sums);
      },
      merge_central_sums);
}

template <class T>
void central_sums_of_rows(const T* data, const SpacedRows& spaced, int order, CentralSums* out) {
  const auto [rows, stride, width] = spaced;
  constexpr std::int64_t piece = 1024;  // elements about one of them
  const auto together = order > 2 ? 1 : std::max<std::int64_t>(1, piece / width);
  for (std::int64_t row = 0; row < rows; row += together) {
    const auto* first = data + row * stride;
    const auto taken = std::min(together, rows - row);
    ShiftedSums sums{0, 0};
    for (std::int64_t i = 0; i < taken && together > 1; ++i) {
      const auto line = shifted_line_sums(first + i * stride, width, static_cast<double>(*first));
      sums.first += line.first;
      sums.second += line.second;
    }
    if (together > 1 && is_usable(sums))
      merge_central_sums(about_the_mean(static_cast<double>(taken * width), static_cast<double>(*first), sums), *out);
    else
      for (std::int64_t i = 0; i < taken; ++i) central_sums(first + i * stride, {.n = width}, order, out);
  }
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
      central_sums(kept, {.n = count}, order, out + line);
    }
}

#define HEATPP_INSTANTIATE(T, name)                                                   \
  template void central_sums(const T*, const Around&, int, CentralSums*);             \
  template void central_sums_of_rows(const T*, const SpacedRows&, int, CentralSums*); \
  template void central_sums_where(const T*, const bool*, std::int64_t, std::int64_t, int, CentralSums*);
AT_FORALL_SCALAR_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail

#include <heatpp/ml/mixture/detail/columns.hpp>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/detail/column_products.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::ml::detail {
namespace {

template <int bytes>
struct Lanes {
  typedef double Vector __attribute__((vector_size(bytes), aligned(sizeof(double)), may_alias));
  static constexpr auto count = static_cast<std::int64_t>(bytes / sizeof(double));
  [[gnu::always_inline]] static const Vector& at(const double* p) { return *reinterpret_cast<const Vector*>(p); }
  [[gnu::always_inline]] static Vector& at(double* p) { return *reinterpret_cast<Vector*>(p); }
};

template <int bytes>
[[gnu::always_inline]] inline double lane_sum(const typename Lanes<bytes>::Vector& v) {
  double sum = 0;
  for (std::int64_t l = 0; l < Lanes<bytes>::count; ++l) sum += v[l];
  return sum;
}

/// Computes densities of two registers of rows at a time; `scratch` keeps the deviations.
template <int bytes>
[[gnu::always_inline]] inline void triangle_rows(const FeatureColumns& x, const double* mean, const double* factor,
                                                 double height, double* scratch, double* out) {
  using L = Lanes<bytes>;
  constexpr auto group = 2 * L::count;
  for (std::int64_t first = 0; first < x.rows; first += group) {
    for (std::int64_t i = 0; i < x.features; ++i)
      for (std::int64_t v = 0; v < group; v += L::count)
        L::at(scratch + i * group + v) = L::at(x.of(i) + first + v) - mean[i];
    typename L::Vector squares[2] = {};
    const auto* f = factor;
    for (std::int64_t tile = 0; tile < x.features; tile += feature_padding) {
      typename L::Vector z[feature_padding][2] = {};
      for (std::int64_t i = 0; i < tile + feature_padding; ++i, f += feature_padding) {
        const auto a = L::at(scratch + i * group), b = L::at(scratch + i * group + L::count);
#pragma GCC unroll 4
        for (int j = 0; j < feature_padding; ++j) z[j][0] += f[j] * a, z[j][1] += f[j] * b;
      }
#pragma GCC unroll 4
      for (int j = 0; j < feature_padding; ++j) squares[0] += z[j][0] * z[j][0], squares[1] += z[j][1] * z[j][1];
    }
    L::at(out + first) = height - 0.5 * squares[0];
    L::at(out + first + L::count) = height - 0.5 * squares[1];
  }
}

/// Computes the products of 4 features with `width` others over all rows.
template <int bytes, int width>
[[gnu::always_inline]] inline void add_tile(const FeatureColumns& d, const double* shares, std::int64_t i,
                                            std::int64_t j, double* second) {
  using L = Lanes<bytes>;
  typename L::Vector products[4][width] = {};
  for (std::int64_t r = 0; r < d.rows; r += L::count) {
    const auto share = L::at(shares + r);
    typename L::Vector right[width];
#pragma GCC unroll 4
    for (int w = 0; w < width; ++w) right[w] = L::at(d.of(j + w) + r);
#pragma GCC unroll 4
    for (int h = 0; h < 4; ++h) {
      const typename L::Vector left = share * L::at(d.of(i + h) + r);
#pragma GCC unroll 4
      for (int w = 0; w < width; ++w) products[h][w] += left * right[w];
    }
  }
  for (int h = 0; h < 4; ++h)
    for (int w = 0; w < width; ++w) second[(i + h) * d.features + j + w] += lane_sum<bytes>(products[h][w]);
}

template <int bytes, int width>
[[gnu::always_inline]] inline void add_tiles(const FeatureColumns& x, const double* mean, const double* shares,
                                             const FeatureColumns& deviations, double* first, double* second) {
  using L = Lanes<bytes>;
  for (std::int64_t j = 0; j < x.features; ++j) {
    typename L::Vector sum = {};
    for (std::int64_t r = 0; r < x.rows; r += L::count) {
      const typename L::Vector d = L::at(x.of(j) + r) - mean[j];
      L::at(deviations.of(j) + r) = d;
      sum += L::at(shares + r) * d;
    }
    first[j] += lane_sum<bytes>(sum);
  }
  for (std::int64_t i = 0; i < x.features; i += 4)
    for (std::int64_t j = 0; j < i + 4; j += width) add_tile<bytes, width>(deviations, shares, i, j, second);
}

#define HEATPP_TRIANGLES(target, name, bytes, width)                                                             \
  target void name##_densities(const FeatureColumns& x, const double* mean, const double* factor, double height, \
                               double* scratch, double* out) {                                                   \
    triangle_rows<bytes>(x, mean, factor, height, scratch, out);                                                 \
  }                                                                                                              \
  target void name##_sums(const FeatureColumns& x, const double* mean, const double* shares,                     \
                          const FeatureColumns& deviations, double* first, double* second) {                     \
    add_tiles<bytes, width>(x, mean, shares, deviations, first, second);                                         \
  }
HEATPP_TRIANGLES(HEATPP_SIMD, narrow, 32, 2)
#ifdef HEATPP_WIDE
HEATPP_TRIANGLES(HEATPP_WIDE, wide, 64, 4)
#else
constexpr auto wide_densities = narrow_densities;
constexpr auto wide_sums = narrow_sums;
#endif
#undef HEATPP_TRIANGLES

HEATPP_SIMD void add_squared(double* __restrict sum, const double* __restrict x, double mean, double factor,
                             std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto z = (x[i] - mean) * factor;
    sum[i] -= 0.5 * z * z;
  }
}

HEATPP_SIMD double lanes_sum(const double* x, std::int64_t n) {
  double lanes[8] = {}, sum = 0;
  for (std::int64_t i = 0; i < n; i += 8)
    for (std::int64_t l = 0; l < 8; ++l) lanes[l] += x[i + l];
  for (const auto lane : lanes) sum += lane;
  return sum;
}

struct Two {
  double first, second;
};
HEATPP_SIMD Two moments_of(const double* __restrict x, double mean, const double* __restrict shares, std::int64_t n) {
  double first[8] = {}, second[8] = {};
  for (std::int64_t i = 0; i < n; i += 8)
    for (std::int64_t l = 0; l < 8; ++l) {
      const auto d = x[i + l] - mean, part = shares[i + l] * d;
      first[l] += part;
      second[l] += part * d;
    }
  Two sum{0, 0};
  for (int l = 0; l < 8; ++l) sum.first += first[l], sum.second += second[l];
  return sum;
}

HEATPP_SIMD void raise_to(double* __restrict most, const double* __restrict x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) most[i] = x[i] > most[i] ? x[i] : most[i];
}
constexpr double least_log = -230;  // exp of it is 1e-100: smaller numbers would slow down all products with them
HEATPP_SIMD void below(double* __restrict x, const double* __restrict most, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto difference = x[i] - most[i];
    x[i] = difference < least_log ? least_log : difference;
  }
}
HEATPP_SIMD void add_shares(double* __restrict total, double* __restrict x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = x[i] < 1e-99 ? 0 : x[i];
    total[i] += x[i];
  }
}
HEATPP_SIMD void divide(double* __restrict x, const double* __restrict by, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] /= by[i];
}

}  // namespace

void triangle_densities(const FeatureColumns& x, const double* mean, const double* factor, double height,
                        double* scratch, double* out) {
  (has_wide() ? wide_densities : narrow_densities)(x, mean, factor, height, scratch, out);
}

void add_triangle(const FeatureColumns& x, const double* mean, const double* shares, const FeatureColumns& deviations,
                  double* first, double* second) {
  (has_wide() ? wide_sums : narrow_sums)(x, mean, shares, deviations, first, second);
}

void diagonal_densities(const FeatureColumns& x, const double* mean, const double* factor, double height, double* out) {
  std::fill_n(out, x.rows, height);
  for (std::int64_t j = 0; j < x.features; ++j) add_squared(out, x.of(j), mean[j], factor[j], x.rows);
}

void add_squares(const FeatureColumns& x, const double* mean, const double* shares, double* first, double* second) {
  for (std::int64_t j = 0; j < x.features; ++j) {
    const auto sums = moments_of(x.of(j), mean[j], shares, x.rows);
    first[j] += sums.first;
    if (second) second[j] += sums.second;
  }
}

double sum_of(const double* x, std::int64_t n) { return lanes_sum(x, n); }

void normalise(double* lines, std::int64_t count, std::int64_t rows, std::int64_t stride, double* norms) {
  std::copy_n(lines, rows, norms);
  for (std::int64_t c = 1; c < count; ++c) raise_to(norms, lines + c * stride, rows);
  for (std::int64_t c = 0; c < count; ++c) below(lines + c * stride, norms, rows);
  at::from_blob(lines, {count, rows}, {stride, 1}, at::kDouble).exp_();
  const auto total = at::zeros({rows}, at::kDouble);
  auto* sum = total.data_ptr<double>();
  for (std::int64_t c = 0; c < count; ++c) add_shares(sum, lines + c * stride, rows);
  for (std::int64_t c = 0; c < count; ++c) divide(lines + c * stride, sum, rows);
  at::from_blob(norms, {rows}, at::kDouble).add_(total.log());
}

}  // namespace heatpp::ml::detail

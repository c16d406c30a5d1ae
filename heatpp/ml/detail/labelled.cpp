#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/column_products.hpp>
#include <heatpp/ml/detail/nearest.hpp>

#include <numeric>

namespace heatpp::ml::detail {
namespace {

#define HEATPP_ROWS(T)                                                                                            \
  HEATPP_SIMD void distances_of(const Piece<T>& piece, const double* centers, const std::int32_t* labels,         \
                                double* out) {                                                                    \
    const auto n = piece.features;                                                                                \
    for (std::int64_t i = 0; i < piece.rows; ++i) {                                                               \
      const auto* x = piece.row(i);                                                                               \
      const auto* c = centers + labels[i] * n;                                                                    \
      double lanes[8] = {};                                                                                       \
      std::int64_t j = 0;                                                                                         \
      for (; j + 8 <= n; j += 8)                                                                                  \
        for (int l = 0; l < 8; ++l) {                                                                             \
          const auto d = static_cast<double>(x[j + l]) - c[j + l];                                                \
          lanes[l] += d * d;                                                                                      \
        }                                                                                                         \
      for (; j < n; ++j) {                                                                                        \
        const auto d = static_cast<double>(x[j]) - c[j];                                                          \
        lanes[0] += d * d;                                                                                        \
      }                                                                                                           \
      out[i] = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])); \
    }                                                                                                             \
  }
HEATPP_ROWS(float)
HEATPP_ROWS(double)
#undef HEATPP_ROWS

/// Rows in the order of their labels: those of label c are order[first[c]] .. order[first[c + 1]], in increasing order.
struct ByLabel {
  std::vector<std::int32_t> order, first;
  ByLabel(const std::int32_t* labels, std::int64_t rows, std::int64_t clusters)
      : order(static_cast<std::size_t>(rows)), first(static_cast<std::size_t>(clusters + 2), 0) {
    for (std::int64_t i = 0; i < rows; ++i) ++first[static_cast<std::size_t>(labels[i]) + 2];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (std::int64_t i = 0; i < rows; ++i)
      order[static_cast<std::size_t>(first[static_cast<std::size_t>(labels[i]) + 1]++)] = static_cast<std::int32_t>(i);
  }
};

/// Adds `width` columns from `at` on of one cluster's rows, in registers of `most` sums.
template <class T, std::int64_t most, std::int64_t width>
[[gnu::always_inline]] inline void add_columns(const Piece<T>& piece, std::span<const std::int32_t> rows,
                                               const double* weights, const double* origin, double* sum,
                                               std::int64_t at) {
  constexpr auto lanes = std::min(width, most);
  typedef T From __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
  typedef double To __attribute__((vector_size(lanes * 8), aligned(8), may_alias));
  To total[width / lanes] = {};
  for (const auto i : rows) {
    const auto w = weights ? weights[i] : 1.0;
    for (std::int64_t v = 0; v < width / lanes; ++v) {
      const auto x = *reinterpret_cast<const From*>(piece.row(i) + at + v * lanes);
      total[v] += w * (__builtin_convertvector(x, To) - *reinterpret_cast<const To*>(origin + at + v * lanes));
    }
  }
  for (std::int64_t v = 0; v < width / lanes; ++v) *reinterpret_cast<To*>(sum + at + v * lanes) += total[v];
}

template <class T, std::int64_t most>
[[gnu::always_inline]] inline void add_cluster(const Piece<T>& piece, std::span<const std::int32_t> rows,
                                               const double* weights, const double* origin, double* sum) {
  std::int64_t j = 0;
  for (; j + 32 <= piece.features; j += 32) add_columns<T, most, 32>(piece, rows, weights, origin, sum, j);
  for (; j + 8 <= piece.features; j += 8) add_columns<T, most, 8>(piece, rows, weights, origin, sum, j);
  for (; j < piece.features; ++j)
    for (const auto i : rows)
      sum[j] += (weights ? weights[i] : 1.0) * (static_cast<double>(piece.row(i)[j]) - origin[j]);
}

#define HEATPP_CLUSTER(T, target, name, most)                                                        \
  target void name(const Piece<T>& piece, std::span<const std::int32_t> rows, const double* weights, \
                   const double* origin, double* sum) {                                              \
    add_cluster<T, most>(piece, rows, weights, origin, sum);                                         \
  }
HEATPP_CLUSTER(float, HEATPP_SIMD, add_narrow, 4)
HEATPP_CLUSTER(double, HEATPP_SIMD, add_narrow, 4)
#ifdef HEATPP_WIDE
HEATPP_CLUSTER(float, HEATPP_WIDE, add_wide, 8)
HEATPP_CLUSTER(double, HEATPP_WIDE, add_wide, 8)
#endif
#undef HEATPP_CLUSTER

template <class T>
void add(const Piece<T>& piece, std::span<const std::int32_t> rows, const double* weights, const double* origin,
         double* sum) {
#ifdef HEATPP_WIDE
  if (has_wide()) return add_wide(piece, rows, weights, origin, sum);
#endif
  add_narrow(piece, rows, weights, origin, sum);
}

}  // namespace

template <class T>
void squared_distances(const Piece<T>& piece, const double* centers, const std::int32_t* labels, double* distances) {
  distances_of(piece, centers, labels, distances);
}
template void squared_distances(const Piece<float>&, const double*, const std::int32_t*, double*);
template void squared_distances(const Piece<double>&, const double*, const std::int32_t*, double*);

template <class T>
void add_rows(const Piece<T>& piece, const std::int32_t* labels, const double* weights, const double* origin,
              std::int64_t clusters, double* sums, double* counts) {
  const ByLabel by(labels, piece.rows, clusters);
  for (std::int64_t c = 0; c < clusters; ++c) {
    const auto first = static_cast<std::size_t>(by.first[static_cast<std::size_t>(c)]);
    const auto rows =
        std::span(by.order).subspan(first, static_cast<std::size_t>(by.first[static_cast<std::size_t>(c) + 1]) - first);
    add(piece, rows, weights, origin, sums + c * piece.features);
    if (!weights) counts[c] += static_cast<double>(rows.size());
    else
      for (const auto i : rows) counts[c] += weights[i];
  }
}
template void add_rows(const Piece<float>&, const std::int32_t*, const double*, const double*, std::int64_t, double*,
                       double*);
template void add_rows(const Piece<double>&, const std::int32_t*, const double*, const double*, std::int64_t, double*,
                       double*);

Labelled labelled(const char* op, const Rows& rows, const double* weights, const at::Tensor& centers) {
  Labelled result{std::vector<std::int32_t>(static_cast<std::size_t>(rows.count()))};
  const NearestCenters table(centers, rows);
  const auto sums = summed_stored(rows, 1, [&](const auto& piece, std::span<double> sum) {
    check_finite(op, rows, piece);
    auto* labels = result.labels.data() + piece.first;
    std::vector<double> distances(static_cast<std::size_t>(piece.rows));
    table.nearest(piece, labels);
    table.distances(piece, labels, distances.data());
    for (std::int64_t i = 0; i < piece.rows; ++i)
      sum[0] += distances[static_cast<std::size_t>(i)] * (weights ? weights[piece.first + i] : 1.0);
  });
  result.inertia = sums[0];
  return result;
}

}  // namespace heatpp::ml::detail

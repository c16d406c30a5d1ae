#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/nearest.hpp>

namespace heatpp::ml::detail {
namespace {

#define HEATPP_ROWS(T)                                                                                            \
  HEATPP_SIMD void distances_of(const Piece<T>& piece, const double* centres, const std::int32_t* labels,         \
                                double* out) {                                                                    \
    const auto n = piece.features;                                                                                \
    for (std::int64_t i = 0; i < piece.rows; ++i) {                                                               \
      const auto* x = piece.row(i);                                                                               \
      const auto* c = centres + labels[i] * n;                                                                    \
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
  }                                                                                                               \
  HEATPP_SIMD void add(const Piece<T>& piece, const std::int32_t* labels, const double* weights,                  \
                       const double* __restrict origin, double* __restrict sums, double* __restrict counts) {     \
    const auto n = piece.features;                                                                                \
    for (std::int64_t i = 0; i < piece.rows; ++i) {                                                               \
      const auto w = weights ? weights[i] : 1.0;                                                                  \
      const auto* __restrict x = piece.row(i);                                                                    \
      auto* __restrict sum = sums + labels[i] * n;                                                                \
      for (std::int64_t j = 0; j < n; ++j) sum[j] += w * (static_cast<double>(x[j]) - origin[j]);                 \
      counts[labels[i]] += w;                                                                                     \
    }                                                                                                             \
  }
HEATPP_ROWS(float)
HEATPP_ROWS(double)
#undef HEATPP_ROWS

}  // namespace

template <class T>
void squared_distances(const Piece<T>& piece, const double* centres, const std::int32_t* labels, double* distances) {
  distances_of(piece, centres, labels, distances);
}
template void squared_distances(const Piece<float>&, const double*, const std::int32_t*, double*);
template void squared_distances(const Piece<double>&, const double*, const std::int32_t*, double*);

template <class T>
void add_rows(const Piece<T>& piece, const std::int32_t* labels, const double* weights, const double* origin,
              double* sums, double* counts) {
  add(piece, labels, weights, origin, sums, counts);
}
template void add_rows(const Piece<float>&, const std::int32_t*, const double*, const double*, double*, double*);
template void add_rows(const Piece<double>&, const std::int32_t*, const double*, const double*, double*, double*);

Labelled labelled(const char* op, const Rows& rows, const double* weights, const at::Tensor& centres) {
  Labelled result{std::vector<std::int32_t>(static_cast<std::size_t>(rows.count()))};
  const NearestCentres table(centres, working_dtype(rows));
  const auto whole = centres.contiguous();
  const auto sums = summed(rows, 1, [&](const auto& piece, std::span<double> sum) {
    check_finite(op, rows, piece);
    auto* labels = result.labels.data() + piece.first;
    std::vector<double> distances(static_cast<std::size_t>(piece.rows));
    table.nearest(piece, labels);
    squared_distances(piece, whole.template const_data_ptr<double>(), labels, distances.data());
    for (std::int64_t i = 0; i < piece.rows; ++i)
      sum[0] += distances[static_cast<std::size_t>(i)] * (weights ? weights[piece.first + i] : 1.0);
  });
  result.inertia = sums[0];
  return result;
}

}  // namespace heatpp::ml::detail

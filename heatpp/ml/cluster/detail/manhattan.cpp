#include <heatpp/ml/cluster/detail/manhattan.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <cmath>
#include <limits>

namespace heatpp::ml::detail {
namespace {

template <class T>
[[gnu::always_inline]] inline double apart(const T* x, const double* c, std::int64_t n) {
  double lanes[8] = {};
  std::int64_t j = 0;
  for (; j + 8 <= n; j += 8)
    for (int l = 0; l < 8; ++l) lanes[l] += std::abs(static_cast<double>(x[j + l]) - c[j + l]);
  for (; j < n; ++j) lanes[0] += std::abs(static_cast<double>(x[j]) - c[j]);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

#define HEATPP_MANHATTAN(T)                                                                                           \
  HEATPP_SIMD void nearest_of(const Piece<T>& piece, const double* centers, std::int64_t count, std::int32_t* labels, \
                              double* distances) {                                                                    \
    for (std::int64_t i = 0; i < piece.rows; ++i) {                                                                   \
      labels[i] = 0;                                                                                                  \
      distances[i] = std::numeric_limits<double>::infinity();                                                         \
      for (std::int64_t c = 0; c < count; ++c)                                                                        \
        if (const auto d = apart(piece.row(i), centers + c * piece.features, piece.features); d < distances[i])       \
          distances[i] = d, labels[i] = static_cast<std::int32_t>(c);                                                 \
    }                                                                                                                 \
  }                                                                                                                   \
  HEATPP_SIMD void distances_of(const Piece<T>& piece, const double* centers, const std::int32_t* labels,             \
                                double* distances) {                                                                  \
    for (std::int64_t i = 0; i < piece.rows; ++i)                                                                     \
      distances[i] = apart(piece.row(i), centers + labels[i] * piece.features, piece.features);                       \
  }
HEATPP_MANHATTAN(float)
HEATPP_MANHATTAN(double)
#undef HEATPP_MANHATTAN

}  // namespace

template <class T>
void nearest_manhattan(const Piece<T>& piece, const double* centers, std::int64_t count, std::int32_t* labels,
                       double* distances) {
  nearest_of(piece, centers, count, labels, distances);
}
template <class T>
void manhattan_distances(const Piece<T>& piece, const double* centers, const std::int32_t* labels, double* distances) {
  distances_of(piece, centers, labels, distances);
}
template void nearest_manhattan(const Piece<float>&, const double*, std::int64_t, std::int32_t*, double*);
template void nearest_manhattan(const Piece<double>&, const double*, std::int64_t, std::int32_t*, double*);
template void manhattan_distances(const Piece<float>&, const double*, const std::int32_t*, double*);
template void manhattan_distances(const Piece<double>&, const double*, const std::int32_t*, double*);

Labelled labelled_manhattan(const char* op, const Rows& rows, const double* weights, const at::Tensor& centers) {
  Labelled result{std::vector<std::int32_t>(static_cast<std::size_t>(rows.count()))};
  const auto whole = centers.contiguous();
  result.inertia = summed(rows, 1, [&](const auto& piece, std::span<double> sum) {
    check_finite(op, rows, piece);
    std::vector<double> distances(static_cast<std::size_t>(piece.rows));
    nearest_manhattan(piece, whole.template const_data_ptr<double>(), whole.size(0), result.labels.data() + piece.first,
                      distances.data());
    for (std::int64_t i = 0; i < piece.rows; ++i)
      sum[0] += distances[static_cast<std::size_t>(i)] * (weights ? weights[piece.first + i] : 1.0);
  })[0];
  return result;
}

}  // namespace heatpp::ml::detail

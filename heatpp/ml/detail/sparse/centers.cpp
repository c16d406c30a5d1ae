#include <heatpp/ml/detail/sparse/centers.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

/// Subtracts: to -= factor * from.
HEATPP_SIMD void subtract(double* __restrict to, double factor, const double* __restrict from, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) to[c] -= factor * from[c];
}

}  // namespace

SparseCenters::SparseCenters(const at::Tensor& centers)
    : places_(centers.contiguous()), by_feature_(centers.t().contiguous()), norms_(places_.square().sum(1)) {}

template <class T>
void SparseCenters::nearest(const SparsePiece<T>& piece, std::int32_t* labels) const {
  const auto k = norms_.numel();
  const auto* const norms = norms_.const_data_ptr<double>();
  const auto* const table = by_feature_.const_data_ptr<double>();
  std::vector<double> scores(static_cast<std::size_t>(k));
  for (std::int64_t i = 0; i < piece.rows; ++i) {
    for (std::size_t c = 0; c < scores.size(); ++c) scores[c] = norms[c] / 2;
    for (auto e = piece.ptr[i]; e < piece.ptr[i + 1]; ++e)
      subtract(scores.data(), static_cast<double>(piece.values[e]), table + piece.columns[e] * k, k);
    labels[i] = static_cast<std::int32_t>(std::ranges::min_element(scores) - scores.begin());
  }
}

template <class T>
void SparseCenters::distances(const SparsePiece<T>& piece, const std::int32_t* labels, double* distances) const {
  const auto* const norms = norms_.const_data_ptr<double>();
  for (std::int64_t i = 0; i < piece.rows; ++i) {
    const auto* const center = places_.const_data_ptr<double>() + labels[i] * piece.features;
    auto sum = norms[labels[i]];
    for (auto e = piece.ptr[i]; e < piece.ptr[i + 1]; ++e) {
      const auto x = static_cast<double>(piece.values[e]);
      sum += x * (x - 2 * center[piece.columns[e]]);
    }
    distances[i] = std::max(0.0, sum);
  }
}

template <class T>
void add_rows(const SparsePiece<T>& piece, const std::int32_t* labels, const double* weights, const double*,
              std::int64_t, double* sums, double* counts) {
  for (std::int64_t i = 0; i < piece.rows; ++i) {
    const auto w = weights ? weights[i] : 1.0;
    auto* const to = sums + labels[i] * piece.features;
    for (auto e = piece.ptr[i]; e < piece.ptr[i + 1]; ++e)
      to[piece.columns[e]] += w * static_cast<double>(piece.values[e]);
    counts[labels[i]] += w;
  }
}

#define HEATPP_SPARSE(T)                                                                                         \
  template void SparseCenters::nearest(const SparsePiece<T>&, std::int32_t*) const;                              \
  template void SparseCenters::distances(const SparsePiece<T>&, const std::int32_t*, double*) const;             \
  template void add_rows(const SparsePiece<T>&, const std::int32_t*, const double*, const double*, std::int64_t, \
                         double*, double*);
HEATPP_SPARSE(float)
HEATPP_SPARSE(double)
#undef HEATPP_SPARSE

}  // namespace heatpp::ml::detail

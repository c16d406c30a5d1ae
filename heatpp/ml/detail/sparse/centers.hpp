#pragma once

#include <heatpp/ml/detail/sparse/row_block.hpp>

#include <variant>

namespace heatpp::ml::detail {

/// Centers of clusters for sparse rows: computes distances from |c|^2 and entries only, in float64.
class SparseCenters {
 public:
  /// `centers` is a (k, features) tensor of float64.
  explicit SparseCenters(const at::Tensor& centers);
  /// Writes the number of the nearest center of each row, the first one for ties. Local.
  template <class T>
  void nearest(const SparsePiece<T>& piece, std::int32_t* labels) const;
  /// Computes the squared distance of each row to the center that `labels` names. Local.
  template <class T>
  void distances(const SparsePiece<T>& piece, const std::int32_t* labels, double* distances) const;

 private:
  at::Tensor places_, by_feature_, norms_;  ///< by_feature_: (features, k), so that an entry finds centers side by side
};

/// Does add_rows for sparse pieces, with origin 0.
template <class T>
void add_rows(const SparsePiece<T>& piece, const std::int32_t* labels, const double* weights, const double* origin,
              std::int64_t clusters, double* sums, double* counts);

}  // namespace heatpp::ml::detail

#pragma once

#include <heatpp/ml/detail/sparse/row_block.hpp>

#include <variant>

namespace heatpp::ml::detail {

/// Centres of clusters for sparse rows: distances follow from |c|^2 and the entries alone, in float64.
class SparseCentres {
 public:
  /// `centres` is a (k, features) tensor of float64.
  explicit SparseCentres(const at::Tensor& centres);
  /// Writes the number of the nearest centre of each row, of several as near the first. Local.
  template <class T>
  void nearest(const SparsePiece<T>& piece, std::int32_t* labels) const;
  /// The squared distance of each row to the centre that `labels` names. Local.
  template <class T>
  void distances(const SparsePiece<T>& piece, const std::int32_t* labels, double* distances) const;

 private:
  at::Tensor places_, by_feature_, norms_;  ///< (features, k), so that an entry finds all centres side by side
};

/// As that of pieces, with an origin that is 0.
template <class T>
void add_rows(const SparsePiece<T>& piece, const std::int32_t* labels, const double* weights, const double* origin,
              std::int64_t clusters, double* sums, double* counts);

}  // namespace heatpp::ml::detail

#pragma once

#include <heatpp/ml/detail/sparse/centers.hpp>
#include <variant>

namespace heatpp::ml::detail {

/// Centers of clusters, laid out for a fast search of a row's nearest one in the rows' precision: minimizes |c|^2 / 2 -
/// x.c, about the mean of the centers, since products of numbers far from 0 lose their differences. Rows that are much
/// farther from all centers than these are from each other keep that error.
template <class T>
class Centers {
 public:
  /// `centers` is a (k, features) tensor of float64.
  explicit Centers(const at::Tensor& centers);
  [[nodiscard]] std::int64_t size() const { return count_; }
  /// Writes the number of the nearest center of each row, the first one for ties. The result for a row and a center
  /// does not depend on their positions. Local.
  void nearest(const Piece<T>& piece, std::int32_t* labels) const;

 private:
  std::int64_t count_, features_, lanes_, padded_;
  std::vector<T> origin_, columns_, half_norms_;  // columns_: features x padded_
};

/// Computes the squared distance of each row to the center that `labels` names, by differences in float64. Local.
template <class T>
void squared_distances(const Piece<T>& piece, const double* centers, const std::int32_t* labels, double* distances);

/// Centers in the precision of the pieces, or for sparse rows.
class NearestCenters {
 public:
  NearestCenters(const at::Tensor& centers, Dtype working_dtype);
  /// Prepares for the pieces that for_stored makes of these rows.
  NearestCenters(const at::Tensor& centers, const Rows& rows);
  template <class T>
  void nearest(const Piece<T>& piece, std::int32_t* labels) const {
    std::get<Centers<T>>(centers_).nearest(piece, labels);
  }
  template <class T>
  void nearest(const SparsePiece<T>& piece, std::int32_t* labels) const {
    std::get<SparseCenters>(centers_).nearest(piece, labels);
  }
  /// Computes the squared distance of each row to the center that `labels` names, in float64. Local.
  template <class T>
  void distances(const Piece<T>& piece, const std::int32_t* labels, double* distances) const {
    squared_distances(piece, places_.const_data_ptr<double>(), labels, distances);
  }
  template <class T>
  void distances(const SparsePiece<T>& piece, const std::int32_t* labels, double* distances) const {
    std::get<SparseCenters>(centers_).distances(piece, labels, distances);
  }

 private:
  at::Tensor places_;
  std::variant<Centers<float>, Centers<double>, SparseCenters> centers_;
};

/// Labels each row of this rank with the nearest of the (k, features) float64 `centers`, and gives the sum of the
/// weighted squared distances. Collective: one all-reduce of 16 bytes, none if rows are replicated. Throws ValueError
/// for rows that are not finite.
struct Labelled {
  std::vector<std::int32_t> labels;
  double inertia = 0;
};
[[nodiscard]] Labelled labelled(const char* op, const Rows& rows, const double* weights, const at::Tensor& centers);

/// Adds weight * (row - origin) for each row to the sum of its label, and the weight to the label's count, in float64,
/// for `clusters` labels. Weights are 1 if there are none. Local.
template <class T>
void add_rows(const Piece<T>& piece, const std::int32_t* labels, const double* weights, const double* origin,
              std::int64_t clusters, double* sums, double* counts);

}  // namespace heatpp::ml::detail

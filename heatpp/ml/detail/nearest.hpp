#pragma once

#include <heatpp/ml/detail/sparse/centres.hpp>
#include <variant>

namespace heatpp::ml::detail {

/// Centres of clusters, laid out so that a row's nearest one is found fast, in the rows' own precision: the least
/// |c|^2 / 2 - x.c, about the mean of the centres, since products of numbers far from 0 say nothing of their
/// differences. Rows that lie far from all centres beside the distances between these keep that error.
template <class T>
class Centres {
 public:
  /// `centres` is a (k, features) tensor of float64.
  explicit Centres(const at::Tensor& centres);
  [[nodiscard]] std::int64_t size() const { return count_; }
  /// Writes the number of the nearest centre of each row, of several as near the first. Products and comparisons of a
  /// row and a centre are the same wherever they stand. Local.
  void nearest(const Piece<T>& piece, std::int32_t* labels) const;

 private:
  std::int64_t count_, features_, lanes_, padded_;
  std::vector<T> origin_, columns_, half_norms_;  // columns_: features x padded_
};

/// The squared distance of each row to the centre that `labels` names, from their differences, in float64. Local.
template <class T>
void squared_distances(const Piece<T>& piece, const double* centres, const std::int32_t* labels, double* distances);

/// Centres in the precision that pieces have, or for sparse rows.
class NearestCentres {
 public:
  NearestCentres(const at::Tensor& centres, Dtype working_dtype);
  /// For the pieces that for_stored has of such rows.
  NearestCentres(const at::Tensor& centres, const Rows& rows);
  template <class T>
  void nearest(const Piece<T>& piece, std::int32_t* labels) const {
    std::get<Centres<T>>(centres_).nearest(piece, labels);
  }
  template <class T>
  void nearest(const SparsePiece<T>& piece, std::int32_t* labels) const {
    std::get<SparseCentres>(centres_).nearest(piece, labels);
  }
  /// The squared distance of each row to the centre that `labels` names, in float64. Local.
  template <class T>
  void distances(const Piece<T>& piece, const std::int32_t* labels, double* distances) const {
    squared_distances(piece, places_.const_data_ptr<double>(), labels, distances);
  }
  template <class T>
  void distances(const SparsePiece<T>& piece, const std::int32_t* labels, double* distances) const {
    std::get<SparseCentres>(centres_).distances(piece, labels, distances);
  }

 private:
  at::Tensor places_;
  std::variant<Centres<float>, Centres<double>, SparseCentres> centres_;
};

/// The nearest of the (k, features) float64 `centres` for each row of this rank, by `labels`, from which the sum of the
/// weighted squared distances follows. Collective: one all-reduce of 16 bytes, none where rows are replicated. Throws
/// ValueError for rows that are not finite.
struct Labelled {
  std::vector<std::int32_t> labels;
  double inertia = 0;
};
[[nodiscard]] Labelled labelled(const char* op, const Rows& rows, const double* weights, const at::Tensor& centres);

/// Adds weight * (row - origin) of each row to the sum of its label, of `clusters`, and the weight to that label's
/// count, in float64. Weights are 1 where there are none. Local.
template <class T>
void add_rows(const Piece<T>& piece, const std::int32_t* labels, const double* weights, const double* origin,
              std::int64_t clusters, double* sums, double* counts);

}  // namespace heatpp::ml::detail

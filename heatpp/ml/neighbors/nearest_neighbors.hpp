#pragma once

#include <heatpp/ml/estimator.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

/// The distance of rows: root of squared differences, sum of absolute differences, or 1 - cosine of the angle, which is
/// 1 for rows of zeros; up to rounding.
enum class Metric { euclidean, manhattan, cosine };

struct NeighborsOptions {
  std::int64_t n_neighbors = 5;
  double radius = 1;  ///< for radius_neighbors
  Metric metric = Metric::euclidean;
};

/// The nearest rows of each row, nearest first, the lowest number first for ties: (samples, k), split as the asking
/// rows; indices are global row numbers, int64.
struct Neighbors {
  DNDarray distances, indices;
};

/// The rows within a radius, `counts` (samples,) of them for each asking row, row by row in vectors that are cut where
/// the rows are.
struct RadiusNeighbors {
  DNDarray counts, distances, indices;
};

/// Nearest neighbors by comparison with all rows: the fitted rows go around the ranks, and every rank keeps the best
/// ones for its rows. Distances are computed from differences in float64, and do not depend on how rows are cut. Rows
/// of a sparse matrix are compared by their entries if the metric is cosine, else with all zeros.
class NearestNeighbors {
 public:
  explicit NearestNeighbors(const NeighborsOptions& options = {}) : options_(options) {}
  [[nodiscard]] const NeighborsOptions& options() const { return options_; }

  /// Keeps the (samples, features) rows, where they are. Collective: one all-reduce of 8 bytes, none if rows are
  /// replicated. Throws ValueError for numbers that are not finite, and options out of range.
  NearestNeighbors& fit(const Rows& x);
  /// Returns the `n_neighbors` nearest fitted rows of each row of `x`. Collective: an all-reduce of 8 bytes to agree
  /// that all is finite, P - 1 messages of the fitted rows of all ranks but one, and an all-reduce of 8 bytes.
  /// Replicated rows are shared out among ranks, and the results gathered. Throws NotFittedError before fit, ValueError
  /// for another number of features, and for fewer rows than neighbors.
  [[nodiscard]] Neighbors kneighbors(const Rows& x) const;
  /// Returns the nearest neighbors of the fitted rows among themselves, without the row itself.
  [[nodiscard]] Neighbors kneighbors() const;
  /// Returns the fitted rows that are at most `radius` away, nearest first. Collective: as kneighbors, and an
  /// all-gather of 8 bytes a rank. Errors as kneighbors.
  [[nodiscard]] RadiusNeighbors radius_neighbors(const Rows& x) const;
  /// Returns the rows of the fit, split as they were, in their floating dtype. Throws NotFittedError before fit,
  /// ValueError for rows that are kept as a sparse matrix.
  [[nodiscard]] const DNDarray& rows() const;

 private:
  friend class KNeighborsClassifier;
  friend class NeighborsGraph;
  friend class KNeighborsRegressor;
  void learn(const char* op, const Rows& x);
  [[nodiscard]] Neighbors found_for(const char* op, const Rows& x) const;
  [[nodiscard]] RadiusNeighbors within(const char* op, const Rows& x) const;
  [[nodiscard]] Neighbors nearest(const char* op, const Rows& x, bool among_themselves) const;
  [[nodiscard]] Rows fitted_rows(const char* op) const;
  NeighborsOptions options_;
  std::optional<DNDarray> rows_;
  std::optional<sparse::DCSRMatrix> matrix_;  ///< replaces the rows, for cosine: of length 1, float64
  Dtype dtype_ = float64;                     ///< of the matrix's rows
};

}  // namespace heatpp

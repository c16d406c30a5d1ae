#pragma once

#include <heatpp/ml/estimator.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

/// How far apart rows are: by the squares or the sizes of their differences, or 1 - cosine of the angle between them,
/// 1 for rows of zeros, up to rounding.
enum class Metric { euclidean, manhattan, cosine };

struct NeighborsOptions {
  std::int64_t n_neighbors = 5;
  double radius = 1;  ///< of radius_neighbors
  Metric metric = Metric::euclidean;
};

/// The nearest rows of each, nearest first, of several as near the lowest first: (samples, k), split as the rows that
/// asked; indices are global row numbers, int64.
struct Neighbors {
  DNDarray distances, indices;
};

/// The rows within a radius, of which there are `counts` (samples,) for each that asked: one row's behind another's, in
/// vectors that are cut where the rows are.
struct RadiusNeighbors {
  DNDarray counts, distances, indices;
};

/// The nearest of some rows, by comparing with all of them: the learnt rows go round the ranks, and every rank keeps
/// the best for its own. Distances are computed from differences in float64, and do not depend on how rows are cut.
/// Rows of a sparse matrix are compared by their entries if the metric is cosine, else with all zeros.
class NearestNeighbors {
 public:
  explicit NearestNeighbors(const NeighborsOptions& options = {}) : options_(options) {}
  [[nodiscard]] const NeighborsOptions& options() const { return options_; }

  /// Keeps the (samples, features) rows, where they are. Collective: one all-reduce of 8 bytes, none where rows are
  /// replicated. Throws ValueError for numbers that are not finite, and options out of range.
  NearestNeighbors& fit(const Rows& x);
  /// The `n_neighbors` nearest learnt rows of each row of `x`. Collective: an all-reduce of 8 bytes to agree that all
  /// is finite, P - 1 messages of the learnt rows of all ranks but one, and an all-reduce of 8 bytes. Rows that all
  /// ranks have are shared out, and the results gathered. Throws NotFittedError before fit, ValueError for another
  /// number of features, and where there are fewer rows than neighbors.
  [[nodiscard]] Neighbors kneighbors(const Rows& x) const;
  /// The same of the learnt rows among themselves, of which none is its own neighbour.
  [[nodiscard]] Neighbors kneighbors() const;
  /// The learnt rows that are at most `radius` away, nearest first. Collective: as kneighbors, and an all-gather of 8
  /// bytes a rank. Errors as kneighbors.
  [[nodiscard]] RadiusNeighbors radius_neighbors(const Rows& x) const;
  /// The rows that were learnt, split as they were, in their floating dtype. Throws NotFittedError before fit,
  /// ValueError for those of a sparse matrix that are kept as such.
  [[nodiscard]] const DNDarray& rows() const;

 private:
  friend class KNeighborsClassifier;
  friend class NeighborsGraph;
  friend class KNeighborsRegressor;
  void learn(const char* op, const Rows& x);
  [[nodiscard]] Neighbors found_for(const char* op, const Rows& x) const;
  [[nodiscard]] RadiusNeighbors within(const char* op, const Rows& x) const;
  [[nodiscard]] Neighbors nearest(const char* op, const Rows& x, bool among_themselves) const;
  [[nodiscard]] Rows learnt(const char* op) const;
  NeighborsOptions options_;
  std::optional<DNDarray> rows_;
  std::optional<sparse::DCSRMatrix> matrix_;  ///< in place of rows, for cosine: of length 1, float64
  Dtype dtype_ = float64;                     ///< of its rows
};

}  // namespace heatpp

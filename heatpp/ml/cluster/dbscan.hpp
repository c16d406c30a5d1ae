#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

struct DBSCANOptions {
  double eps = 0.5;              ///< the largest distance between neighbors
  std::int64_t min_samples = 5;  ///< a core row has at least this many neighbors, or this weight, including itself
  Metric metric = Metric::euclidean;
  /// Lengths of a periodic box, one for each feature, infinite for axes that are not periodic: rows are neighbors
  /// across its sides. Requires the Euclidean metric and at most 4 features. Empty: no box.
  std::vector<double> box = {};
};

/// Clusters of rows that are connected by core rows, and noise (Ester et al. 1996). Labels are those of scikit-learn
/// for any number of ranks. Clusters are numbered in the order of their first core rows; a border row of several
/// clusters belongs to the first. With `min_samples` 1 or 2 and a box: friends-of-friends groups.
///
/// Euclidean rows of up to 4 features are compared in cells of width eps. They move to ranks by boxes of space, with
/// copies of those near a border, and parts of clusters are joined across borders (Patwary et al. 2012, Goetz et al.
/// 2015). Otherwise rows stay where they are, and are compared with all rows by products of matrices.
class DBSCAN {
 public:
  explicit DBSCAN(const DBSCANOptions& options = {}) : options_(options) {}
  [[nodiscard]] const DBSCANOptions& options() const { return options_; }

  /// Clusters rows. Collective. In cells: one exchange of the rows and one of those near borders, with their numbers
  /// and labels. Otherwise: twice the rows of all ranks but one in P - 1 messages, each row with one more number. Then
  /// all-gathers of the clusters, 8 bytes each, and of connections between ranks, 16 bytes each. None if rows are
  /// replicated. Weights add all-reduces of 24 and 16 bytes, 8 bytes for each copy of a row, and for each row that
  /// moves those of `take`. They are summed as whole numbers, so that clusters do not depend on the number of ranks. An
  /// array without rows has no clusters. Throws ValueError for no features, numbers that are not finite, and weights
  /// and options out of range.
  DBSCAN& fit(const Rows& x, const FitOptions& options = {});
  /// Clusters the vertices of a graph, cut in any way, whose entries are distances: (n, n), symmetric, as made by
  /// `radius_neighbors_graph`. Entries above eps are ignored, a vertex is its own neighbor, and `metric` is not used.
  /// Collective: the halo's plan, 1 and 8 bytes for each of its vertices, what `connected_components` sends, and
  /// all-gathers of 8 bytes for each cluster of each rank. Throws ValueError for negative distances, NaN, other shapes
  /// and a box, TypeError for complex distances.
  DBSCAN& fit(const sparse::DCSRMatrix& distances, const FitOptions& options = {});
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  [[nodiscard]] DNDarray fit_predict(const sparse::DCSRMatrix& distances, const FitOptions& options = {}) {
    return fit(distances, options).labels();
  }

  // The fitted state. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& labels() const;        ///< int64 (samples,), split as the rows: -1 is noise
  [[nodiscard]] const DNDarray& core_indices() const;  ///< global numbers of the core rows, increasing, cut as the rows
  [[nodiscard]] std::int64_t n_clusters() const;

 private:
  struct Fitted {
    DNDarray labels, core_indices;
    std::int64_t clusters;
  };
  [[nodiscard]] const Fitted& fitted_state(const char* op) const;
  DBSCANOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp

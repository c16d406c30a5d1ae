#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

struct DBSCANOptions {
  double eps = 0.5;              ///< rows at most so far apart are neighbours
  std::int64_t min_samples = 5;  ///< a core row has so many neighbours, itself among them, or such a weight of them
  Metric metric = Metric::euclidean;
  /// Lengths of a periodic box, one for each feature, infinite along those that are not: rows are neighbours across its
  /// sides. Euclidean, of at most 4 features. Empty: none.
  std::vector<double> box = {};
};

/// Clusters of rows that are connected by core rows, and noise (Ester et al. 1996): scikit-learn's labels, whatever the
/// number of ranks. Clusters have the order of their first core rows; a row at the border of several belongs to the
/// first. With `min_samples` 1 or 2 and a box: the friends-of-friends groups of particles.
///
/// Euclidean rows of up to 4 features are compared in cells as wide as eps; they move to ranks by boxes of space, with
/// copies of those near a border, and parts of clusters are joined where they meet there (Patwary et al. 2012, Goetz et
/// al. 2015). Others stay, and are compared with all rows by products of matrices.
class DBSCAN {
 public:
  explicit DBSCAN(const DBSCANOptions& options = {}) : options_(options) {}
  [[nodiscard]] const DBSCANOptions& options() const { return options_; }

  /// Collective: in cells one exchange of the rows and one of those near borders, with their numbers and labels; else
  /// twice the rows of all ranks but one in P - 1 messages, with one more number each; then all-gathers of the
  /// clusters, 8 bytes each, and of what connects ranks' parts of them, 16 bytes each. None where rows are replicated.
  /// Weights are one all-reduce of 24 bytes and one of 16, and go where rows go: 8 bytes for each copy of a row, and
  /// for each row that moves those of `take`. They are summed as whole numbers, so that the clusters are the same on
  /// any number of ranks. No rows have no clusters. Throws ValueError for no features, numbers that are not finite,
  /// weights and options out of range.
  DBSCAN& fit(const Rows& x, const FitOptions& options = {});
  /// Clusters of the vertices of a graph, cut in any way, whose entries are distances: (n, n), symmetric, as
  /// `radius_neighbors_graph` of rows makes it. Entries above eps count for nothing, a vertex is its own neighbour, and
  /// `metric` is not looked at. Collective: the halo's plan, 1 and 8 bytes for each of its vertices, what
  /// `connected_components` sends, and all-gathers of 8 bytes a cluster of each rank. Throws ValueError for negative
  /// distances, NaN, other shapes and a box, TypeError for complex ones.
  DBSCAN& fit(const sparse::DCSRMatrix& distances, const FitOptions& options = {});
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  [[nodiscard]] DNDarray fit_predict(const sparse::DCSRMatrix& distances, const FitOptions& options = {}) {
    return fit(distances, options).labels();
  }

  // What was learnt. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& labels() const;        ///< int64 (samples,), split as the rows: -1 is noise
  [[nodiscard]] const DNDarray& core_indices() const;  ///< global numbers of the core rows, rising, cut as the rows
  [[nodiscard]] std::int64_t n_clusters() const;

 private:
  struct Learnt {
    DNDarray labels, core_indices;
    std::int64_t clusters;
  };
  [[nodiscard]] const Learnt& learnt(const char* op) const;
  DBSCANOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/graph/laplacian.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

/// The weights of a graph's edges for rows at distance d: rbf: exp(-gamma d^2). euclidean: 1 if d is below the
/// threshold. nearest_neighbors: 1 between a row and its nearest ones, 1/2 if only one is among the other's nearest.
enum class SpectralMetric { rbf, euclidean, nearest_neighbors };

struct SpectralOptions {
  std::optional<std::int64_t> n_clusters = std::nullopt;  ///< nullopt: up to the widest gap of the least eigenvalues
  double gamma = 1;
  SpectralMetric metric = SpectralMetric::rbf;
  graph::LaplacianMode laplacian = graph::LaplacianMode::fully_connected;  ///< euclidean: always e_neighbour
  double threshold = 1;
  std::int64_t n_neighbors = 10;  ///< for nearest_neighbors; the row itself is one, as in scikit-learn
  graph::LaplacianBoundary boundary = graph::LaplacianBoundary::lower;  ///< for rbf's weights; euclidean: upper
  std::int64_t lanczos_iterations = 300;  ///< at most the number of rows; not used for a sparse graph
  int n_init = 10;                        ///< starts of k-means
  std::uint64_t seed = 0;
};

/// Clusters of rows as vertices of a graph (Shi, Malik 2000; von Luxburg 2007): k-means of the eigenvectors of
/// the least eigenvalues of D^-1 L, which follow from those of the symmetric Laplacian. The Laplacian is sparse
/// if the graph is, i.e. for nearest neighbors or a given graph; else each rank holds n x n / P numbers of
/// float64.
class Spectral {
 public:
  explicit Spectral(const SpectralOptions& options = {}) : options_(options) {}
  [[nodiscard]] const SpectralOptions& options() const { return options_; }

  /// Clusters (samples, features) rows. Collective: what `rbf` or `cdist`, Laplacian::construct, `lanczos` and KMeans
  /// communicate; for nearest neighbors, `kneighbors_graph` and the fit of a graph. Throws ValueError for fewer rows
  /// than clusters or neighbors, numbers that are not finite, and options out of range.
  Spectral& fit(const Rows& x);
  /// Clusters the vertices of a graph of (samples, samples) weights; if (i, j) and (j, i) differ, their mean counts.
  /// Options of metrics are not used. Collective: sparse::transpose, add and laplacian, `eigsh` and KMeans. Throws
  /// ValueError for a matrix that is not square, weights that are negative or not finite, and as above; TypeError for
  /// complex weights; Error if `eigsh` does not converge.
  Spectral& fit(const sparse::DCSRMatrix& affinity);
  [[nodiscard]] DNDarray fit_predict(const Rows& x) { return fit(x).labels(); }
  [[nodiscard]] DNDarray fit_predict(const sparse::DCSRMatrix& affinity) { return fit(affinity).labels(); }

  // The fitted state. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& labels() const;       ///< int64 (samples,), split as the rows
  [[nodiscard]] const DNDarray& embedding() const;    ///< (samples, clusters), float64, split as the rows
  [[nodiscard]] const DNDarray& eigenvalues() const;  ///< (clusters,), float64, increasing, on every rank
  [[nodiscard]] std::int64_t n_clusters() const;

 private:
  struct Fitted {
    DNDarray labels, embedding, eigenvalues;
  };
  [[nodiscard]] const Fitted& fitted_state(const char* op) const;
  void learn(const DNDarray& embedding, const DNDarray& eigenvalues);
  SpectralOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp

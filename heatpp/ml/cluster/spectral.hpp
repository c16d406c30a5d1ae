#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/graph/laplacian.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

/// What the edges of a graph of rows weigh: exp(-gamma d^2) of their distance d, 1 where d is below the threshold, or 1
/// between a row and those nearest to it, 1/2 where only one of two is among those nearest to the other.
enum class SpectralMetric { rbf, euclidean, nearest_neighbors };

struct SpectralOptions {
  std::optional<std::int64_t> n_clusters = std::nullopt;  ///< nullopt: up to the widest gap of the least eigenvalues
  double gamma = 1;
  SpectralMetric metric = SpectralMetric::rbf;
  graph::LaplacianMode laplacian = graph::LaplacianMode::fully_connected;  ///< euclidean: e_neighbour whatever it says
  double threshold = 1;
  std::int64_t n_neighbors = 10;  ///< of nearest_neighbors, the row itself being one, as scikit-learn counts
  graph::LaplacianBoundary boundary = graph::LaplacianBoundary::lower;  ///< of rbf's weights; euclidean: upper
  std::int64_t lanczos_iterations = 300;  ///< at most the number of rows; of a sparse graph nothing
  int n_init = 10;                        ///< starts of k-means
  std::uint64_t seed = 0;
};

/// Clusters of rows by the graph that they are the vertices of (Shi, Malik 2000; von Luxburg 2007): k-means of the
/// eigenvectors that belong to the least eigenvalues of D^-1 L, which follow from those of the symmetric Laplacian. The
/// Laplacian is sparse where the graph is, of nearest neighbors or given, else n x n / P numbers of float64 on each
/// rank.
class Spectral {
 public:
  explicit Spectral(const SpectralOptions& options = {}) : options_(options) {}
  [[nodiscard]] const SpectralOptions& options() const { return options_; }

  /// Clusters (samples, features) rows. Collective: what `rbf` or `cdist`, Laplacian::construct, `lanczos` and KMeans
  /// communicate; of nearest neighbors `kneighbors_graph` and the next one. Throws ValueError for fewer rows than
  /// clusters or neighbors, numbers that are not finite, and options out of range.
  Spectral& fit(const Rows& x);
  /// Clusters the vertices of a graph of (samples, samples) weights, the mean of both where (i, j) and (j, i) differ;
  /// options of metrics say nothing. Collective: sparse::transpose, add and laplacian, `eigsh` and KMeans. Throws
  /// ValueError for a matrix that is not square, weights that are negative or not finite, and as above, TypeError for
  /// complex ones, Error where `eigsh` does not converge.
  Spectral& fit(const sparse::DCSRMatrix& affinity);
  [[nodiscard]] DNDarray fit_predict(const Rows& x) { return fit(x).labels(); }
  [[nodiscard]] DNDarray fit_predict(const sparse::DCSRMatrix& affinity) { return fit(affinity).labels(); }

  // What was learnt. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& labels() const;       ///< int64 (samples,), split as the rows
  [[nodiscard]] const DNDarray& embedding() const;    ///< (samples, clusters), float64, split as the rows
  [[nodiscard]] const DNDarray& eigenvalues() const;  ///< (clusters,), float64, rising, on every rank
  [[nodiscard]] std::int64_t n_clusters() const;

 private:
  struct Learnt {
    DNDarray labels, embedding, eigenvalues;
  };
  [[nodiscard]] const Learnt& learnt(const char* op) const;
  void learn(const DNDarray& embedding, const DNDarray& eigenvalues);
  SpectralOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

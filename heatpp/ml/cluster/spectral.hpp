#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/graph/laplacian.hpp>

namespace heatpp {

/// What the edges of a graph of rows weigh: exp(-gamma d^2) of their distance d, or 1 where d is below the threshold.
enum class SpectralMetric { rbf, euclidean };

struct SpectralOptions {
  std::optional<std::int64_t> n_clusters = std::nullopt;  ///< nullopt: up to the widest gap of the least eigenvalues
  double gamma = 1;
  SpectralMetric metric = SpectralMetric::rbf;
  graph::LaplacianMode laplacian = graph::LaplacianMode::fully_connected;  ///< euclidean: e_neighbour whatever it says
  double threshold = 1;
  graph::LaplacianBoundary boundary = graph::LaplacianBoundary::lower;  ///< of rbf's weights; euclidean: upper
  std::int64_t lanczos_iterations = 300;                                ///< at most the number of rows
  int n_init = 10;                                                      ///< starts of k-means
  std::uint64_t seed = 0;
};

/// Clusters of rows by the graph that they are the vertices of (Shi, Malik 2000; von Luxburg 2007): k-means of the
/// eigenvectors that belong to the least eigenvalues of D^-1 L, which follow from those of the symmetric Laplacian. The
/// Laplacian is dense, n x n / P numbers of float64 on each rank.
class Spectral {
 public:
  explicit Spectral(const SpectralOptions& options = {}) : options_(options) {}
  [[nodiscard]] const SpectralOptions& options() const { return options_; }

  /// Clusters (samples, features) rows. Collective: what `rbf` or `cdist`, Laplacian::construct, `lanczos` and KMeans
  /// communicate. Throws ValueError for fewer rows than clusters, numbers that are not finite, and options out of
  /// range.
  Spectral& fit(const Rows& x);
  [[nodiscard]] DNDarray fit_predict(const Rows& x) { return fit(x).labels(); }

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
  SpectralOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

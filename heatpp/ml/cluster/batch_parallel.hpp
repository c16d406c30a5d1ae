#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>

namespace heatpp {

struct BatchParallelOptions {
  std::int64_t n_clusters = 8;
  std::variant<KMeansInit, DNDarray> init = KMeansInit::plus_plus;  ///< on each rank, among its own rows
  std::int64_t max_iterations = 300;                                ///< on each rank, and for the merge
  double tol = 1e-4;  ///< converged if the squared shift of all centers is at most this times the mean variance
  std::uint64_t seed = 0;
};

/// The base of BatchParallelKMeans and BatchParallelKMedians. Each rank clusters its own rows. Then every rank clusters
/// the centers of all ranks, each with the weight of its rows (Alguliyev et al. 2021). Iterations communicate nothing.
/// The result depends on how the rows are cut; replicated rows are clustered as a whole on every rank. If a rank has
/// fewer rows than clusters, its rows are its centers.
class BatchParallelClusters : public CenterClusters {
 public:
  [[nodiscard]] const BatchParallelOptions& options() const { return options_; }

 protected:
  BatchParallelClusters(const char* kind, Distance distance, const BatchParallelOptions& options)
      : CenterClusters(kind, distance), distance_(distance), options_(options) {}
  void learn_from(const Rows& x, const FitOptions& options);

 private:
  Distance distance_;
  BatchParallelOptions options_;
};

/// Parallel k-means: clusters each rank's rows with Lloyd's algorithm, then merges the centers.
class BatchParallelKMeans : public BatchParallelClusters {
 public:
  explicit BatchParallelKMeans(const BatchParallelOptions& options = {})
      : BatchParallelClusters("BatchParallelKMeans", Distance::squared, options) {}
  /// Fits centers to (samples, features) rows; iterations() is the maximum over ranks. Collective: one all-reduce of 24
  /// (features + 1) bytes, all-gathers of 8 bytes a rank and of 8 (features + 1) for each center of all ranks, one
  /// all-reduce of 8 bytes, and one of 16 for the labels; none if rows are replicated. Errors as KMeans::fit.
  BatchParallelKMeans& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
};

/// Parallel k-medians: uses medians instead of means, and Manhattan distances.
class BatchParallelKMedians : public BatchParallelClusters {
 public:
  explicit BatchParallelKMedians(const BatchParallelOptions& options = {})
      : BatchParallelClusters("BatchParallelKMedians", Distance::manhattan, options) {}
  /// Fits centers; contract as BatchParallelKMeans::fit.
  BatchParallelKMedians& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
};

}  // namespace heatpp

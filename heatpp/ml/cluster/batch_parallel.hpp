#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>

namespace heatpp {

struct BatchParallelOptions {
  std::int64_t n_clusters = 8;
  std::variant<KMeansInit, DNDarray> init = KMeansInit::plus_plus;  ///< on each rank, among its own rows
  std::int64_t max_iterations = 300;                                ///< on each rank, and of the merging
  double tol = 1e-4;  ///< ends where the squared shift of all centres is at most this times the mean variance
  std::uint64_t seed = 0;
};

/// What BatchParallelKMeans and BatchParallelKMedians have in common: each rank clusters its own rows, and the centres
/// of all ranks, each with the weight of its rows, are clustered on every rank (Alguliyev et al. 2021). Nothing is sent
/// between the iterations. By definition the result depends on how the rows are cut; replicated rows are clustered
/// whole on every rank. Rows of ranks that have fewer than there are clusters are centres themselves.
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

/// Lloyd's algorithm in parallel batches.
class BatchParallelKMeans : public BatchParallelClusters {
 public:
  explicit BatchParallelKMeans(const BatchParallelOptions& options = {})
      : BatchParallelClusters("BatchParallelKMeans", Distance::squared, options) {}
  /// Learns centres from (samples, features) rows; iterations are the most of any rank. Collective: one all-reduce of
  /// 24 (features + 1) bytes, all-gathers of 8 bytes a rank and of 8 (features + 1) for each centre of all ranks, one
  /// all-reduce of 8 bytes, and one of 16 for the labels; none where rows are replicated. Errors as KMeans::fit.
  BatchParallelKMeans& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
};

/// The same with medians for means, by Manhattan distances.
class BatchParallelKMedians : public BatchParallelClusters {
 public:
  explicit BatchParallelKMedians(const BatchParallelOptions& options = {})
      : BatchParallelClusters("BatchParallelKMedians", Distance::manhattan, options) {}
  /// As BatchParallelKMeans::fit.
  BatchParallelKMedians& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>

namespace heatpp {

struct MiniBatchKMeansOptions {
  std::int64_t n_clusters = 8;
  std::variant<KMeansInit, DNDarray> init = KMeansInit::plus_plus;  ///< among 3 batches; or first centers
  std::int64_t batch_size = 1024;                                   ///< rows of all ranks together
  std::int64_t max_iterations = 100;                                ///< passes over all rows; a step is one batch
  double tol = 0;                        ///< converged if the squared shift is at most this times the mean variance
  std::int64_t max_no_improvement = 10;  ///< ends after this many steps without a lower smoothed inertia; 0: never
  double reassignment_ratio = 0.01;      ///< centers below this part of the largest weight move to rows of the batch
  std::uint64_t seed = 0;                ///< gives the same batches for any number of ranks
  FitCallback progress = {};
};

/// k-means by batches of rows (Sculley 2010), with the rules of scikit-learn: each center is the mean of all rows ever
/// assigned to it. The rows of a batch follow from the seed and the number of the step, and do not depend on the number
/// of ranks.
class MiniBatchKMeans : public CenterClusters {
 public:
  explicit MiniBatchKMeans(const MiniBatchKMeansOptions& options = {})
      : CenterClusters("MiniBatchKMeans", Distance::squared), options_(options) {}
  [[nodiscard]] const MiniBatchKMeansOptions& options() const { return options_; }

  /// Fits centers to (samples, features) rows. Collective: one all-reduce of 24 (features + 1) bytes, one of 8 (rows
  /// features + 1) for the sample from which first centers are chosen, one of 8 (clusters (features + 1) + 3) for each
  /// step, one of 8 (centers features + 1) if some are reassigned, and one of 16 for the labels; none if rows are
  /// replicated. Throws ValueError for fewer rows than clusters, numbers that are not finite, options out of range,
  /// weights that are negative, and centers of another shape.
  MiniBatchKMeans& fit(const Rows& x, const FitOptions& options = {});
  /// Does one step with these rows as the batch, the first one from centers among them. Labels and inertia are theirs.
  /// Collective: one all-reduce of 24 (features + 1) bytes, and those of a step and of labels. Errors as fit.
  MiniBatchKMeans& partial_fit(const Rows& x, const FitOptions& options = {});
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// Returns the weight of the rows assigned to each center, (clusters,), float64, on every rank.
  [[nodiscard]] const DNDarray& counts() const;
  /// Returns the number of steps of all fits since the last start.
  [[nodiscard]] std::int64_t steps() const { return iterations(); }

  /// Returns the state that save_model writes, without the labels. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static MiniBatchKMeans from_state(const ModelState& state);

 private:
  MiniBatchKMeansOptions options_;
  std::optional<DNDarray> counts_;
  std::int64_t since_reassignment_ = 0;
};

}  // namespace heatpp

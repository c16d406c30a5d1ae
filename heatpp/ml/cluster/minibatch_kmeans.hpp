#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>

namespace heatpp {

struct MiniBatchKMeansOptions {
  std::int64_t n_clusters = 8;
  std::variant<KMeansInit, DNDarray> init = KMeansInit::plus_plus;  ///< among 3 batches; or centres to start from
  std::int64_t batch_size = 1024;                                   ///< rows of all ranks together
  std::int64_t max_iterations = 100;     ///< as many steps as passes over all rows would take
  double tol = 0;                        ///< ends where the squared shift is at most this times the mean variance
  std::int64_t max_no_improvement = 10;  ///< ends after so many steps without a lower smoothed inertia; 0: never
  double reassignment_ratio = 0.01;      ///< of the largest weight: centres with less become rows of the batch
  std::uint64_t seed = 0;                ///< the same batches for any number of ranks
  FitCallback progress = {};
};

/// k-means by batches of rows (Sculley 2010), with scikit-learn's rules: each centre is the mean of all rows that it
/// ever got. The rows of a batch follow from the seed and the number of the step, so that any number of ranks takes the
/// same.
class MiniBatchKMeans : public CenterClusters {
 public:
  explicit MiniBatchKMeans(const MiniBatchKMeansOptions& options = {})
      : CenterClusters("MiniBatchKMeans", Distance::squared), options_(options) {}
  [[nodiscard]] const MiniBatchKMeansOptions& options() const { return options_; }

  /// Learns centres from (samples, features) rows. Collective: one all-reduce of 24 (features + 1) bytes, one of 8
  /// (rows features + 1) for the rows among which first centres are chosen, one of 8 (clusters (features + 1) + 3) for
  /// each step, one of 8 (centres features + 1) where some are chosen anew, and one of 16 for the labels; none where
  /// rows are replicated. Throws ValueError for fewer rows than clusters, numbers that are not finite, options out of
  /// range, weights that are negative, and centres of another shape.
  MiniBatchKMeans& fit(const Rows& x, const FitOptions& options = {});
  /// One step with all of these rows as the batch, the first one from centres among them; labels and inertia are those
  /// of these rows. Collective: one all-reduce of 24 (features + 1) bytes, and a step's and the labels'. Errors as fit.
  MiniBatchKMeans& partial_fit(const Rows& x, const FitOptions& options = {});
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// The weight of the rows that each centre has got, (clusters,), float64, on every rank.
  [[nodiscard]] const DNDarray& counts() const;
  /// Steps of all fits since the last start.
  [[nodiscard]] std::int64_t steps() const { return iterations(); }

  /// What save_model writes of it, without the labels. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static MiniBatchKMeans from_state(const ModelState& state);

 private:
  MiniBatchKMeansOptions options_;
  std::optional<DNDarray> counts_;
  std::int64_t since_reassignment_ = 0;
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/cluster/center_clusters.hpp>
#include <variant>

namespace heatpp {

/// The choice of first centers: rows likely to lie far apart, one by one (k-means++, a few messages each), or in five
/// rounds (k-means||, for many clusters or ranks), or random rows.
enum class KMeansInit { plus_plus, parallel, random };

struct KMeansOptions {
  std::int64_t n_clusters = 8;
  std::variant<KMeansInit, DNDarray> init = KMeansInit::plus_plus;  ///< or first centers (n_clusters, features)
  int n_init = 1;  ///< starts; the first one with the least inertia, up to rounding, is kept; 1 for given centers
  std::int64_t max_iterations = 300;  ///< of each start
  double tol = 1e-4;       ///< converged if the squared shift of all centers is at most this times the mean variance
  std::uint64_t seed = 0;  ///< gives the same centers for any number of ranks
  FitCallback progress = {};
};

/// The base of KMeans, KMedians and KMedoids: centers that are improved iteratively.
class IteratedClusters : public CenterClusters {
 public:
  [[nodiscard]] const KMeansOptions& options() const { return options_; }
  /// Returns the state that save_model writes, without the labels. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;

 protected:
  enum class Rule { means, medians, medoids };
  IteratedClusters(const char* kind, Rule rule, const KMeansOptions& options)
      : CenterClusters(kind, rule == Rule::means ? Distance::squared : Distance::manhattan),
        rule_(rule),
        options_(options) {}
  void learn_from(const Rows& x, const FitOptions& options);
  void read(const ModelState& state);

 private:
  Rule rule_;
  KMeansOptions options_;
};

/// Clusters of rows around centers. The fit minimizes the inertia, i.e. the sum of the squared distances to the nearest
/// center, by Lloyd's algorithm with the rules of scikit-learn. A cluster that loses all rows takes the one farthest
/// from its center. Totals are float64 for all dtypes; distances are taken about the mean of the centers, so that rows
/// far from 0 keep their accuracy. Results depend on the number of ranks only by the rounding of sums.
class KMeans : public IteratedClusters {
 public:
  explicit KMeans(const KMeansOptions& options = {}) : IteratedClusters("KMeans", Rule::means, options) {}

  /// Fits centers to (samples, features) rows. Collective: one all-reduce of 24 (features + 1) bytes, one of 8
  /// (clusters (features + 1) + 4) for each iteration and one of 16 for the labels, besides those of the first centers;
  /// none if rows are replicated. Throws ValueError for fewer rows than clusters, numbers that are not finite, weights
  /// that are negative, and centers of another shape.
  KMeans& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static KMeans from_state(const ModelState& state) {
    KMeans model;
    model.read(state);
    return model;
  }
};

}  // namespace heatpp

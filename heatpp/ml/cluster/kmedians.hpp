#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>

namespace heatpp {

/// Clusters of rows around the medians of their columns, so that the sum of the Manhattan distances to the nearest
/// centre, the inertia, is small. Medians are exact: numbers of a cluster are narrowed down digit by digit, all columns
/// of all clusters at once. First centres are drawn as for KMeans; a cluster that loses all rows takes the one farthest
/// from its centre. The same on any number of ranks.
class KMedians : public IteratedClusters {
 public:
  explicit KMedians(const KMeansOptions& options = {}) : IteratedClusters("KMedians", Rule::medians, options) {}
  /// Learns centres from (samples, features) rows, k clusters and f features. Collective: one all-reduce of 24 (f + 1)
  /// bytes and one of 16 for the labels; for each iteration one of 8 (2 k + 3) and, for each of the 64 / d digits of d
  /// bits (32 / d for float32), one of 8 (k f 2^d + 1), d of 8, 4, 2 and 1 the largest for which k f 2^d <= 65536, and
  /// one of 8 (k f + 1) where a cluster has a middle between two numbers; besides those of the first centres; none
  /// where rows are replicated. Errors as KMeans::fit.
  KMedians& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static KMedians from_state(const ModelState& state) {
    KMedians model;
    model.read(state);
    return model;
  }
};

/// Clusters of rows around one of their own rows, the medoid: the one that is nearest to the medians of the cluster's
/// columns, by Manhattan distances, where the cluster's rows are nearer to it than to the medoid before, so that the
/// sum of their distances, the inertia, falls until the end. A heuristic of few passes, which knows of no swaps as PAM
/// does. The same on any number of ranks.
class KMedoids : public IteratedClusters {
 public:
  explicit KMedoids(const KMeansOptions& options = {}) : IteratedClusters("KMedoids", Rule::medoids, options) {}
  /// Learns medoids from (samples, features) rows. Collective: as KMedians::fit, and for each iteration three
  /// all-reduces of 8 (k + 1) bytes and one of 8 (k f + 1) more. Errors as KMeans::fit.
  KMedoids& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static KMedoids from_state(const ModelState& state) {
    KMedoids model;
    model.read(state);
    return model;
  }
};

}  // namespace heatpp

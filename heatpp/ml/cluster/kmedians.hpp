#pragma once

#include <heatpp/ml/cluster/kmeans.hpp>

namespace heatpp {

/// Clusters of rows around the medians of their columns. The fit minimizes the inertia, i.e. the sum of the Manhattan
/// distances to the nearest center. Medians are exact: they are found digit by digit for all columns and clusters
/// together. First centers are drawn as for KMeans; a cluster that loses all rows takes the one farthest from its
/// center. Results are equal for any number of ranks.
class KMedians : public IteratedClusters {
 public:
  explicit KMedians(const KMeansOptions& options = {}) : IteratedClusters("KMedians", Rule::medians, options) {}
  /// Fits centers to (samples, features) rows, k clusters and f features. Collective: one all-reduce of 24 (f + 1)
  /// bytes and one of 16 for the labels; for each iteration one of 8 (2 k + 3), one of 8 (k f 2^d + 1) for each of the
  /// 64 / d digits of d bits (32 / d for float32), and one of 8 (k f + 1) if a median lies between two numbers; those
  /// of the first centers; none if rows are replicated. d is the largest of 8, 4, 2 and 1 for which k f 2^d <= 65536.
  /// Errors as KMeans::fit.
  KMedians& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static KMedians from_state(const ModelState& state) {
    KMedians model;
    model.read(state);
    return model;
  }
};

/// Clusters of rows around medoids. A medoid is the row nearest to the medians of the cluster's columns, by Manhattan
/// distances, if it lowers the cluster's sum of distances compared with the medoid before; so the inertia, the sum of
/// these distances, falls until the end. This heuristic takes few passes; it does not try swaps as PAM does. Results
/// are equal for any number of ranks.
class KMedoids : public IteratedClusters {
 public:
  explicit KMedoids(const KMeansOptions& options = {}) : IteratedClusters("KMedoids", Rule::medoids, options) {}
  /// Fits medoids to (samples, features) rows. Collective: as KMedians::fit, and for each iteration three more
  /// all-reduces of 8 (k + 1) bytes and one of 8 (k f + 1). Errors as KMeans::fit.
  KMedoids& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static KMedoids from_state(const ModelState& state) {
    KMedoids model;
    model.read(state);
    return model;
  }
};

}  // namespace heatpp

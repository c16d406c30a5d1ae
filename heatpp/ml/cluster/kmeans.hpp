#pragma once

#include <heatpp/ml/cluster/center_clusters.hpp>
#include <variant>

namespace heatpp {

/// How first centres are chosen: rows that are likely to lie far from each other (k-means++, a few messages for each
/// centre), the same in five rounds whatever their number (k-means||, for many clusters or ranks), or any rows.
enum class KMeansInit { plus_plus, parallel, random };

struct KMeansOptions {
  std::int64_t n_clusters = 8;
  std::variant<KMeansInit, DNDarray> init = KMeansInit::plus_plus;  ///< or centres (n_clusters, features) to start from
  int n_init = 1;  ///< starts, of which the first with the least inertia counts, up to rounding; 1 for given
  std::int64_t max_iterations = 300;  ///< of each start
  double tol = 1e-4;       ///< ends where the squared shift of all centres is at most this times the mean variance
  std::uint64_t seed = 0;  ///< the same centres for any number of ranks
  FitCallback progress = {};
};

/// What KMeans, KMedians and KMedoids have in common: centres that get better from a start on.
class IteratedClusters : public CenterClusters {
 public:
  [[nodiscard]] const KMeansOptions& options() const { return options_; }
  /// What save_model writes of it, without the labels. Local. Throws NotFittedError before fit.
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

/// Clusters of rows around centres, so that the sum of the squared distances to the nearest centre, the inertia, is
/// small: Lloyd's algorithm, by scikit-learn's rules. A cluster that loses all rows takes the one farthest from its
/// centre. Totals are float64 whatever the rows are; distances are compared about the mean of the centres, so that rows
/// far from 0 lose nothing. The same on any number of ranks up to the rounding of sums.
class KMeans : public IteratedClusters {
 public:
  explicit KMeans(const KMeansOptions& options = {}) : IteratedClusters("KMeans", Rule::means, options) {}

  /// Learns centres from (samples, features) rows. Collective: one all-reduce of 24 (features + 1) bytes, one of 8
  /// (clusters (features + 1) + 4) for each iteration and one of 16 for the labels, besides those of the first
  /// centres; none where rows are replicated. Throws ValueError for fewer rows than clusters, numbers that are not
  /// finite, weights that are negative, and centres of another shape.
  KMeans& fit(const Rows& x, const FitOptions& options = {}) {
    learn_from(x, options);
    return *this;
  }
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static KMeans from_state(const ModelState& state) {
    KMeans model;
    model.read(state);
    return model;
  }
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/estimator.hpp>
#include <variant>

namespace heatpp {

/// How first centres are chosen: rows that are likely to lie far from each other (k-means++, a few messages for each
/// centre), the same in five rounds whatever their number (k-means||, for many clusters or ranks), or any rows.
enum class KMeansInit { plus_plus, parallel, random };

struct KMeansOptions {
  std::int64_t n_clusters = 8;
  std::variant<KMeansInit, DNDarray> init = KMeansInit::plus_plus;  ///< or centres (n_clusters, features) to start from
  int n_init = 1;                     ///< starts, of which the one with the least inertia counts; 1 for given centres
  std::int64_t max_iterations = 300;  ///< of each start
  double tol = 1e-4;       ///< ends where the squared shift of all centres is at most this times the mean variance
  std::uint64_t seed = 0;  ///< the same centres for any number of ranks
  FitCallback progress = {};
};

/// Clusters of rows around centres, so that the sum of the squared distances to the nearest centre, the inertia, is
/// small: Lloyd's algorithm, by scikit-learn's rules. A cluster that loses all rows takes the one farthest from its
/// centre. Totals are float64 whatever the rows are; distances are compared about the mean of the centres, so that rows
/// far from 0 lose nothing. The same on any number of ranks up to the rounding of sums.
class KMeans {
 public:
  explicit KMeans(const KMeansOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KMeansOptions& options() const { return options_; }

  /// Learns centres from (samples, features) rows. Collective: one all-reduce of 24 (features + 1) bytes, one of 8
  /// (clusters (features + 1) + 4) for each iteration and one of 16 for the labels, besides those of the first
  /// centres; none where rows are replicated. Throws ValueError for fewer rows than clusters, numbers that are not
  /// finite, weights that are negative, and centres of another shape.
  KMeans& fit(const Rows& x, const FitOptions& options = {});
  /// The number of the nearest centre of each row, of several as near the lowest: int64 of shape (samples,), split as
  /// the rows. Communicates one all-reduce of 16 bytes to agree that all is finite. Throws NotFittedError before fit,
  /// ValueError for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) { return fit(x, options).labels(); }
  /// The distances (samples, clusters) of rows to centres, split as the rows. Local. Errors as predict, but that
  /// distances of rows that are not finite are not either.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// Minus the inertia of the rows. Collective: one all-reduce of 16 bytes. Errors as predict.
  [[nodiscard]] double score(const Rows& x, const FitOptions& options = {}) const;

  /// What save_model writes of it, without the labels. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static KMeans from_state(const ModelState& state);

  // What was learnt. All throw NotFittedError before fit; labels ValueError after from_state.
  [[nodiscard]] const DNDarray& centers()
      const;                                     ///< (clusters, features), on every rank, in the floating dtype of rows
  [[nodiscard]] const DNDarray& labels() const;  ///< what predict gives for the rows that were learnt from
  [[nodiscard]] double inertia() const;          ///< weighted
  [[nodiscard]] std::int64_t iterations() const;

 private:
  struct Learnt {
    DNDarray centers, labels;
    double inertia;
    std::int64_t iterations;
  };
  [[nodiscard]] const Learnt& learnt(const char* op) const;

  KMeansOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {
struct Weighted;
}

namespace heatpp {

/// The base of the k-means family: each cluster has a center, and a row belongs to the cluster with the nearest
/// one.
class CenterClusters {
 public:
  /// Returns the number of the nearest center of each row, the lowest one for ties: int64 of shape (samples,), split as
  /// the rows. Communicates one all-reduce of 16 bytes to agree that all is finite. Throws NotFittedError before fit,
  /// ValueError for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// Returns the distances (samples, clusters) of rows to centers, split as the rows. Local. Errors as predict, except
  /// that rows that are not finite give distances that are not finite.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// Returns minus the inertia of the rows. Collective: one all-reduce of 16 bytes. Errors as predict.
  [[nodiscard]] double score(const Rows& x, const FitOptions& options = {}) const;

  // The fitted state. All throw NotFittedError before fit; labels() also throws ValueError after from_state.
  [[nodiscard]] const DNDarray& centers()
      const;                                     ///< (clusters, features), on every rank, in the floating dtype of rows
  [[nodiscard]] const DNDarray& labels() const;  ///< the prediction for the rows of the fit
  [[nodiscard]] double inertia() const;          ///< the weighted sum of distances that the fit minimizes
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< false if max_iterations ended the fit, which the log warns of

 protected:
  /// The distance of which the inertia is the sum: squared or Manhattan.
  enum class Distance { squared, manhattan };
  struct Fitted {
    DNDarray centers, labels;
    double inertia;
    std::int64_t iterations;
    bool converged;
  };
  CenterClusters(const char* kind, Distance distance) : kind_(kind), distance_(distance) {}
  CenterClusters(const CenterClusters&) = default;
  CenterClusters(CenterClusters&&) = default;
  CenterClusters& operator=(const CenterClusters&) = default;
  CenterClusters& operator=(CenterClusters&&) = default;
  ~CenterClusters() = default;

  [[nodiscard]] const char* kind() const { return kind_; }
  [[nodiscard]] bool is_fitted() const { return fitted_.has_value(); }
  [[nodiscard]] const Fitted& fitted_state(const char* what) const;
  void learn(Fitted found) { fitted_ = std::move(found); }
  /// Returns the centers with labels and inertia of these rows. Collective: one all-reduce of 16 bytes.
  [[nodiscard]] Fitted judged(const ml::detail::Weighted& rows, const DNDarray& centers, std::int64_t iterations = 0,
                              bool converged = true) const;

 private:
  const char* kind_;
  Distance distance_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp

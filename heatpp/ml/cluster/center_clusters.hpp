#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {
struct Weighted;
}

namespace heatpp {

/// Clusters that are known by a centre each, to the nearest of which a row belongs: what the k-means family have in
/// common.
class CenterClusters {
 public:
  /// The number of the nearest centre of each row, of several as near the lowest: int64 of shape (samples,), split as
  /// the rows. Communicates one all-reduce of 16 bytes to agree that all is finite. Throws NotFittedError before fit,
  /// ValueError for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// The distances (samples, clusters) of rows to centres, split as the rows. Local. Errors as predict, but that
  /// distances of rows that are not finite are not either.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// Minus the inertia of the rows. Collective: one all-reduce of 16 bytes. Errors as predict.
  [[nodiscard]] double score(const Rows& x, const FitOptions& options = {}) const;

  // What was learnt. All throw NotFittedError before fit; labels ValueError after from_state.
  [[nodiscard]] const DNDarray& centers()
      const;                                     ///< (clusters, features), on every rank, in the floating dtype of rows
  [[nodiscard]] const DNDarray& labels() const;  ///< what predict gives for the rows that were learnt from
  [[nodiscard]] double inertia() const;          ///< the weighted sum of what is made small
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< or else iterations ended before, which the log is warned of

 protected:
  /// How far a row is: inertia is the sum of squared distances, or of Manhattan distances.
  enum class Distance { squared, manhattan };
  struct Learnt {
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
  [[nodiscard]] bool is_fitted() const { return learnt_.has_value(); }
  [[nodiscard]] const Learnt& learnt(const char* what) const;
  void learn(Learnt found) { learnt_ = std::move(found); }
  /// Centres, and what these rows make of them. Collective: one all-reduce of 16 bytes.
  [[nodiscard]] Learnt judged(const ml::detail::Weighted& rows, const DNDarray& centers, std::int64_t iterations = 0,
                              bool converged = true) const;

 private:
  const char* kind_;
  Distance distance_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

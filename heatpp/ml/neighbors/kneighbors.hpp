#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

// What the nearest rows of known label or value say of others.
namespace heatpp {

/// Whether all neighbours count alike, or by 1 / distance: where some are at distance 0, these alone.
enum class NeighborWeights { uniform, distance };

struct KNeighborsOptions {
  std::int64_t n_neighbors = 5;
  NeighborWeights weights = NeighborWeights::uniform;
  Metric metric = Metric::euclidean;
};

/// The label that most of the nearest learnt rows have, of several that as many have the lowest.
class KNeighborsClassifier {
 public:
  explicit KNeighborsClassifier(const KNeighborsOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KNeighborsOptions& options() const { return options_; }

  /// Keeps the (samples, features) rows and their labels (samples,), any whole numbers, cut as the rows. Collective:
  /// as NearestNeighbors::fit and unique_inverse of the labels. Throws TypeError for labels that are no whole numbers,
  /// ValueError for another number of labels, and as NearestNeighbors::fit.
  KNeighborsClassifier& fit(const Rows& x, const DNDarray& y);
  /// The label of each row: int64 of shape (samples,), split as the rows. Collective: as NearestNeighbors::kneighbors,
  /// whose errors it has, and indexing the learnt labels with the neighbours.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// The share of each label among the neighbours: (samples, labels), split as the rows. Costs and errors as predict.
  [[nodiscard]] DNDarray predict_proba(const Rows& x) const;
  /// The weighted share of rows whose label is predicted right. Costs and errors as predict and accuracy_score.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  /// The labels in rising order, on every rank. Throws NotFittedError before fit.
  [[nodiscard]] const DNDarray& classes() const;

 private:
  [[nodiscard]] DNDarray predicted(const char* op, const Rows& x) const;
  KNeighborsOptions options_;
  std::optional<NearestNeighbors> neighbors_;
  DNDarray classes_, which_;
};

/// The mean of the nearest learnt rows' values.
class KNeighborsRegressor {
 public:
  explicit KNeighborsRegressor(const KNeighborsOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KNeighborsOptions& options() const { return options_; }

  /// Keeps the (samples, features) rows and their values, (samples,) or (samples, outputs). Collective: as
  /// NearestNeighbors::fit, and an all-reduce of 1 byte. Throws TypeError for complex values, ValueError for another
  /// number of them and where they are not finite, and as NearestNeighbors::fit.
  KNeighborsRegressor& fit(const Rows& x, const DNDarray& y);
  /// The value of each row, (samples,) or (samples, outputs), split as the rows, in float64 where the learnt values or
  /// distances are or the values are whole numbers of 32 and 64 bits, else float32. Collective: as
  /// KNeighborsClassifier::predict.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// The coefficient of determination R^2, its mean over outputs. Costs and errors as predict and r2_score.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;

 private:
  [[nodiscard]] DNDarray predicted(const char* op, const Rows& x) const;
  KNeighborsOptions options_;
  std::optional<NearestNeighbors> neighbors_;
  DNDarray values_;
};

}  // namespace heatpp

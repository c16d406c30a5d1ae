#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

// Predictions from the nearest rows of known label or value.
namespace heatpp {

/// The weights of neighbors: equal, or 1 / distance; if some are at distance 0, only these count.
enum class NeighborWeights { uniform, distance };

struct KNeighborsOptions {
  std::int64_t n_neighbors = 5;
  NeighborWeights weights = NeighborWeights::uniform;
  Metric metric = Metric::euclidean;
};

/// Predicts the most frequent label of the nearest fitted rows, the lowest one for ties.
class KNeighborsClassifier {
 public:
  explicit KNeighborsClassifier(const KNeighborsOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KNeighborsOptions& options() const { return options_; }

  /// Keeps the (samples, features) rows and their labels (samples,), any whole numbers, cut as the rows. Collective: as
  /// NearestNeighbors::fit and unique_inverse of the labels. Throws TypeError for labels that are not whole numbers,
  /// ValueError for another number of labels, and as NearestNeighbors::fit.
  KNeighborsClassifier& fit(const Rows& x, const DNDarray& y);
  /// Returns the label of each row: int64 of shape (samples,), split as the rows. Collective: as
  /// NearestNeighbors::kneighbors, whose errors it has, and indexing the fitted labels with the neighbors.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// Returns each label's share of neighbors: (samples, labels), split as the rows. Costs and errors as predict.
  [[nodiscard]] DNDarray predict_proba(const Rows& x) const;
  /// Returns the weighted share of rows with correct labels. Costs and errors as predict and accuracy_score.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  /// Returns the labels in increasing order, on every rank. Throws NotFittedError before fit.
  [[nodiscard]] const DNDarray& classes() const;

 private:
  [[nodiscard]] DNDarray predicted(const char* op, const Rows& x) const;
  KNeighborsOptions options_;
  std::optional<NearestNeighbors> neighbors_;
  DNDarray classes_, which_;
};

/// Predicts the mean of the values of the nearest fitted rows.
class KNeighborsRegressor {
 public:
  explicit KNeighborsRegressor(const KNeighborsOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KNeighborsOptions& options() const { return options_; }

  /// Keeps the (samples, features) rows and their values, (samples,) or (samples, outputs). Collective: as
  /// NearestNeighbors::fit, and an all-reduce of 1 byte. Throws TypeError for complex values, ValueError for another
  /// number of values or values that are not finite, and as NearestNeighbors::fit.
  KNeighborsRegressor& fit(const Rows& x, const DNDarray& y);
  /// Returns the value of each row, (samples,) or (samples, outputs), split as the rows, in float64 if the fitted
  /// values or distances are float64 or the values are whole numbers of 32 or 64 bits, else float32. Collective: as
  /// KNeighborsClassifier::predict.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// Returns the coefficient of determination R^2, averaged over outputs. Costs and errors as predict and r2_score.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;

 private:
  [[nodiscard]] DNDarray predicted(const char* op, const Rows& x) const;
  KNeighborsOptions options_;
  std::optional<NearestNeighbors> neighbors_;
  DNDarray values_;
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/tree/detail/bins.hpp>
#include <heatpp/ml/tree/detail/losses.hpp>
#include <heatpp/ml/tree/detail/trees.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>

namespace heatpp::ml::detail {

/// The fitted state of boosting: scores are the baseline plus the values of all trees.
struct FittedBoosting {
  std::vector<double> baseline{};  ///< for each output
  Trees trees{};                   ///< iteration by iteration, one for each output
  std::int64_t features = 0;
  std::optional<Communicator> comm = std::nullopt;
  Categories categories{};
  [[nodiscard]] std::int64_t outputs() const { return std::ssize(baseline); }
  [[nodiscard]] std::int64_t iterations() const { return trees.size() / outputs(); }
  /// Adds the scores of a piece's rows, (rows, outputs), with given distances between rows and between outputs.
  template <class T>
  void add_scores(const Piece<T>& piece, double* scores, std::int64_t of_row, std::int64_t of_output) const;

 private:
  template <class T>
  void add_trees(const Piece<T>& piece, double* scores, std::int64_t of_row, std::int64_t of_output) const;
};

/// Throws ValueError for options out of range, or that do not fit this number of features.
void check_options(const char* op, const HistGradientBoostingOptions& options, std::int64_t features);

/// Returns the positions of the features with categories. Throws ValueError for a mask of another length than the
/// number of features, and for positions out of range or twice. Local.
[[nodiscard]] std::vector<std::int64_t> categorical_positions(const char* op, const FeatureChoice& choice,
                                                              std::int64_t features);
/// Whether a fit to these rows watches the validation loss. Local.
[[nodiscard]] bool stops_early(const HistGradientBoostingOptions& options, const Rows& rows);

/// Grows trees, starting from `start` if that fits. Collective, as the estimators say.
[[nodiscard]] std::shared_ptr<const FittedBoosting> boosted(Task task, const HistGradientBoostingOptions& options,
                                                            std::shared_ptr<const FittedBoosting> start);

}  // namespace heatpp::ml::detail

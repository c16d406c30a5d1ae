#pragma once

#include <heatpp/ml/tree/detail/histogram.hpp>
#include <heatpp/ml/tree/detail/trees.hpp>
#include <heatpp/ml/estimator.hpp>

// Trees for classes or numbers, grown level by level, several at once.
namespace heatpp::ml::detail {

struct ForestLimits {
  std::int64_t trees = 1, depth, rows_to_divide, rows_of_leaf;
  std::int64_t features;  ///< to try in a node; more only if none of them can split it
  bool bootstrap = false;
  std::int64_t max_bins;
  std::uint64_t seed;
};

/// The targets of this rank's rows.
struct ForestTask {
  const char* op;
  const Rows& rows;
  std::int64_t classes;               ///< 0 for numbers
  std::vector<std::int32_t> labels;   ///< positions of classes
  at::Tensor targets;                 ///< float64 numbers
  std::optional<at::Tensor> weights;  ///< nullopt: 1
};

/// The fitted state of a forest: predicts the mean of the leaves' values, which are shares of classes or one number.
struct FittedForest {
  Trees trees{};
  std::vector<double> importances{};  ///< for each feature
  std::optional<Communicator> comm = std::nullopt;
  [[nodiscard]] std::int64_t features() const { return std::ssize(importances); }
};

/// Returns the trees of `before` and new ones up to the number asked for. Collective, as the estimators say.
[[nodiscard]] std::shared_ptr<const FittedForest> grown_forest(const ForestTask& task, const ForestLimits& limits,
                                                               const FitCallback& progress,
                                                               const FittedForest* before = nullptr);

/// The best split of a node's rows.
struct ForestSplit {
  double gain = -1;  ///< in weighted impurity; less than 0: no split is possible
  std::int32_t feature = -1, bin = 0;
  std::int32_t following = 0;  ///< the next bin with rows of the node
  bool missing_left = false;
  std::vector<std::int64_t> left{};  ///< sums of the rows that go left
};
/// Finds the best split by Gini's impurity of classes, or the variance of numbers (Breiman et al. 1984), among some
/// features with contiguous cells; for ties that of the lowest feature, then of the lowest bin, with NaN to the right.
/// Local; the result does not depend on where cells are, since sums are whole numbers.
[[nodiscard]] ForestSplit best_forest_split(const Bins& bins, std::span<const std::int32_t> features,
                                            const std::int64_t* cells, std::span<const std::int64_t> all,
                                            const ForestUnits& units, std::int64_t rows_of_leaf);

/// Returns how often a tree draws each row: Poisson with mean 1 (Oza, Russell 2001), by global positions.
[[nodiscard]] std::vector<std::uint8_t> bootstrap_times(const Rows& rows, std::uint64_t seed, std::int64_t tree);
inline constexpr std::int64_t most_times = 15;

}  // namespace heatpp::ml::detail

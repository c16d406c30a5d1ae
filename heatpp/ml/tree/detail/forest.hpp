#pragma once

#include <heatpp/ml/tree/detail/histogram.hpp>
#include <heatpp/ml/tree/detail/trees.hpp>
#include <heatpp/ml/estimator.hpp>

// Trees of classes or numbers, grown level by level, several at once.
namespace heatpp::ml::detail {

struct ForestLimits {
  std::int64_t trees = 1, depth, rows_to_divide, rows_of_leaf;
  std::int64_t features;  ///< looked at in a node; more only where none of them divides it
  bool bootstrap = false;
  std::int64_t max_bins;
  std::uint64_t seed;
};

/// What is to be predicted for this rank's rows.
struct ForestTask {
  const char* op;
  const Rows& rows;
  std::int64_t classes;               ///< 0 for numbers
  std::vector<std::int32_t> labels;   ///< positions of classes
  at::Tensor targets;                 ///< float64 numbers
  std::optional<at::Tensor> weights;  ///< nullopt: 1
};

/// What a forest has learnt: a row is told the mean of its leaves' values, which are shares of classes or one number.
struct LearntForest {
  Trees trees{};
  std::vector<double> importances{};  ///< of each feature
  std::optional<Communicator> comm = std::nullopt;
  [[nodiscard]] std::int64_t features() const { return std::ssize(importances); }
};

/// The trees of `before`, and what is missing to as many as are wanted. Collective, as the estimators say.
[[nodiscard]] std::shared_ptr<const LearntForest> grown_forest(const ForestTask& task, const ForestLimits& limits,
                                                               const FitCallback& progress,
                                                               const LearntForest* before = nullptr);

/// What divides the rows of a node best.
struct ForestSplit {
  double gain = -1;  ///< in weighted impurity; less than 0: nothing divides them
  std::int32_t feature = -1, bin = 0;
  std::int32_t following = 0;  ///< the next bin that rows of the node are in
  bool missing_left = false;
  std::vector<std::int64_t> left{};  ///< sums of the rows that go left
};
/// By Gini's impurity of classes, or the variance of numbers (Breiman et al. 1984), among some features whose cells lie
/// behind one another. Of several as good that of the lowest feature, then of the lowest bin, NaN going right. Local,
/// the same wherever cells are: sums are whole numbers.
[[nodiscard]] ForestSplit best_forest_split(const Bins& bins, std::span<const std::int32_t> features,
                                            const std::int64_t* cells, std::span<const std::int64_t> all,
                                            const ForestUnits& units, std::int64_t rows_of_leaf);

/// How often each row is drawn for a tree: Poisson's distribution of mean 1 (Oza, Russell 2001), by global positions.
[[nodiscard]] std::vector<std::uint8_t> bootstrap_times(const Rows& rows, std::uint64_t seed, std::int64_t tree);
inline constexpr std::int64_t most_times = 15;

}  // namespace heatpp::ml::detail

#pragma once

#include <heatpp/comm/communicator.hpp>

namespace at {
class Tensor;
}

namespace heatpp::nn {

/// A mean that each rank accumulates locally until the mean over all ranks is asked for.
class Average {
 public:
  /// Adds `value`, the mean of `count` samples, or with the weight `count`; if that is 0, any value is allowed. Local.
  void add(double value, double count = 1);
  /// Returns this rank's mean; NaN without samples.
  [[nodiscard]] double local() const { return sum_ / count_; }
  /// Returns the mean over all ranks, equal on each; NaN without samples. Collective.
  [[nodiscard]] double value(const Communicator& comm) const;
  /// Returns the number of samples on all ranks. Collective.
  [[nodiscard]] double count(const Communicator& comm) const;
  void reset() { *this = {}; }

 private:
  double sum_ = 0;
  double count_ = 0;
};

/// Mean and standard deviation of values, such as losses of samples, over all ranks.
class Moments {
 public:
  struct Result {
    std::int64_t count = 0;
    double mean = 0, std = 0;  ///< NaN without values; std is that of the population (ddof 0)
  };
  /// Adds all elements of `values`. Local: it combines their moments with those before (Chan, Golub, LeVeque 1979).
  void add(const at::Tensor& values);
  void add(double value);
  /// Returns the result, equal on all ranks. Collective: one allreduce of 24 bytes.
  [[nodiscard]] Result value(const Communicator& comm) const;
  void reset() { *this = {}; }

 private:
  void add(double count, double mean, double squares);

  double count_ = 0, mean_ = 0, squares_ = 0;  // squares_: sum of squared distances from the mean
};

/// Returns the share of rows of `scores` (n, classes) whose largest score is at the class in `targets` (n). Local.
[[nodiscard]] double accuracy(const at::Tensor& scores, const at::Tensor& targets);
/// Returns the share of rows whose class is among the k largest scores; 1 if there are fewer classes than k. Local.
[[nodiscard]] double top_k_accuracy(const at::Tensor& scores, const at::Tensor& targets, int k);

/// Returns the mean over rows of the intersection over union of the prediction (`scores` above 0) and the target
/// (`masks` above 0); 1 for a row where both are empty. Local. Throws ValueError if their shapes differ.
[[nodiscard]] double intersection_over_union(const at::Tensor& scores, const at::Tensor& masks);

/// Counts how often rows of each class were predicted as each class.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(int classes);
  /// Adds rows of `scores` (n, classes), or predicted classes (n), and the true classes (n). Local. Throws ValueError
  /// for classes out of range.
  void add(const at::Tensor& scores, const at::Tensor& targets);
  /// Returns the counts over all ranks, equal on each, row by row: element (i, j) at i * classes + j is the number of
  /// rows of class i that were predicted as j. Collective.
  [[nodiscard]] std::vector<std::int64_t> value(const Communicator& comm) const;
  void reset() { counts_.assign(counts_.size(), 0); }

  struct Scores {
    double accuracy = 0;
    std::vector<double> precision, recall, f1;  ///< for each class; 0 instead of 0 / 0
  };
  /// Returns the scores over all ranks. Collective.
  [[nodiscard]] Scores scores(const Communicator& comm) const;

 private:
  int classes_;
  std::vector<std::int64_t> counts_;
};

/// Measures how well a network's outputs fit their targets, over all elements: mean squared error, coefficient of
/// determination and relative L2 error.
class RegressionMetrics {
 public:
  struct Result {
    std::int64_t count = 0;
    double mse = 0;          ///< mean of (output - target)^2
    double mae = 0;          ///< mean of |output - target|
    double r2 = 0;           ///< 1 - sum (output - target)^2 / sum (target - mean target)^2
    double relative_l2 = 0;  ///< |output - target| / |target|, norms over all elements
  };
  /// Adds tensors of equal shapes; sums are in float64. Local. Throws ValueError.
  void add(const at::Tensor& outputs, const at::Tensor& targets);
  /// Returns the result, equal on all ranks. Collective.
  [[nodiscard]] Result value(const Communicator& comm) const;
  void reset() { *this = {}; }

 private:
  double squares_ = 0, distances_ = 0;
  double target_squares_ = 0;
  Moments targets_;
};

}  // namespace heatpp::nn

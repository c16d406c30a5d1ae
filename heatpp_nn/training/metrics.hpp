#pragma once

#include <heatpp/comm/communicator.hpp>

namespace at {
class Tensor;
}

namespace heatpp::nn {

/// A mean that each rank gathers for itself until somebody asks for the mean over all.
class Average {
 public:
  /// `value` is the mean of `count` samples, or by a weight of `count`; anything where that is 0. Local.
  void add(double value, double count = 1);
  /// Of this rank; NaN without samples.
  [[nodiscard]] double local() const { return sum_ / count_; }
  /// Over all ranks, the same on each; NaN without samples. Collective.
  [[nodiscard]] double value(const Communicator& comm) const;
  /// How many samples there are on all ranks. Collective.
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
    double mean = 0, std = 0;  ///< NaN without values; the standard deviation is that of the values themselves (ddof 0)
  };
  /// All elements of `values`. Local: their moments are put together with those before (Chan, Golub, LeVeque 1979).
  void add(const at::Tensor& values);
  void add(double value);
  /// The same on all ranks. Collective: one all-gather of three numbers of each rank.
  [[nodiscard]] Result value(const Communicator& comm) const;
  void reset() { *this = {}; }

 private:
  void add(double count, double mean, double squares);

  double count_ = 0, mean_ = 0, squares_ = 0;  // of distances from the mean
};

/// The share of rows of `scores` (n, classes) that are largest at the class in `targets` (n). Local.
[[nodiscard]] double accuracy(const at::Tensor& scores, const at::Tensor& targets);
/// The share of rows whose class is among the k with the largest scores; with fewer classes than k: 1. Local.
[[nodiscard]] double top_k_accuracy(const at::Tensor& scores, const at::Tensor& targets, int k);

/// Intersection over union of what is found (`scores` above 0) and of what is there (`masks` above 0), the mean over
/// rows; 1 for a row without either. Local. Throws ValueError where their shapes differ.
[[nodiscard]] double intersection_over_union(const at::Tensor& scores, const at::Tensor& masks);

/// How often rows of each class were taken for each class.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(int classes);
  /// Rows of `scores` (n, classes), or predicted classes (n), and the right classes (n). Local. Throws ValueError for
  /// classes out of range.
  void add(const at::Tensor& scores, const at::Tensor& targets);
  /// Counts over all ranks, the same on each, row by row: element (i, j) at i * classes + j is how many of class i were
  /// taken for j. Collective.
  [[nodiscard]] std::vector<std::int64_t> value(const Communicator& comm) const;
  void reset() { counts_.assign(counts_.size(), 0); }

  struct Scores {
    double accuracy = 0;
    std::vector<double> precision, recall, f1;  ///< of each class; 0 where nothing is divided by nothing
  };
  /// Collective.
  [[nodiscard]] Scores scores(const Communicator& comm) const;

 private:
  int classes_;
  std::vector<std::int64_t> counts_;
};

/// How well a network's outputs fit their targets, over all elements: mean squared error, coefficient of determination
/// and relative L2 error.
class RegressionMetrics {
 public:
  struct Result {
    std::int64_t count = 0;
    double mse = 0;          ///< mean of (output - target)^2
    double mae = 0;          ///< mean of |output - target|
    double r2 = 0;           ///< 1 - sum (output - target)^2 / sum (target - mean target)^2
    double relative_l2 = 0;  ///< |output - target| / |target|, norms over all elements
  };
  /// Of equal shapes; sums are in float64. Local. Throws ValueError.
  void add(const at::Tensor& outputs, const at::Tensor& targets);
  /// The same on all ranks. Collective.
  [[nodiscard]] Result value(const Communicator& comm) const;
  void reset() { *this = {}; }

 private:
  double squares_ = 0, distances_ = 0;
  double target_squares_ = 0;
  Moments targets_;
};

}  // namespace heatpp::nn

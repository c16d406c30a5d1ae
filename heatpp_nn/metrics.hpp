#pragma once

#include <heatpp/comm/communicator.hpp>

namespace at {
class Tensor;
}

namespace heatpp::nn {

/// A mean that each rank gathers for itself until somebody asks for the mean over all.
class Average {
 public:
  /// `value` is the mean of `count` samples. Local.
  void add(double value, double count = 1);
  /// Of this rank; NaN without samples.
  [[nodiscard]] double local() const { return sum_ / count_; }
  /// Over all ranks, the same on each; NaN without samples. Collective.
  [[nodiscard]] double value(const Communicator& comm) const;
  void reset() { *this = {}; }

 private:
  double sum_ = 0;
  double count_ = 0;
};

/// The share of rows of `scores` (n, classes) that are largest at the class in `targets` (n). Local.
[[nodiscard]] double accuracy(const at::Tensor& scores, const at::Tensor& targets);

}  // namespace heatpp::nn

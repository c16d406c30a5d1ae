#pragma once

#include <heatpp_nn/losses/loss_value.hpp>

namespace heatpp::nn::detail {

/// The loss of this rank's rows, with its weight.
struct WeighedLoss {
  at::Tensor loss = {};  ///< the differentiable loss: a mean by `weight`, or a sum
  double value = 0;      ///< the mean; 0 if the weight is 0
  double weight = 0;     ///< weight of the mean: the number of rows, or what the loss says
  bool is_sum = false;
};

/// Throws ValueError for a loss or a weight with more than one number, for a weight that is negative or not finite, and
/// for a sum with a weight.
[[nodiscard]] WeighedLoss weighed(const char* op, const LossValue& found, double rows);

/// Throws ValueError because the weights of all ranks are 0.
[[noreturn]] void throw_nothing_counts(const char* op);

}  // namespace heatpp::nn::detail

#pragma once

#include <heatpp_nn/losses/loss_value.hpp>

namespace heatpp::nn::detail {

/// The loss of this rank's rows, with what it counts by.
struct WeighedLoss {
  at::Tensor loss = {};  ///< to be differentiated: a mean by `weight`, or a sum
  double value = 0;      ///< the mean; 0 where the weight is
  double weight = 0;     ///< of the mean: its rows, or what the loss says
  bool is_sum = false;
};

/// Throws ValueError for a loss or a weight of more than one number, for a weight that is not finite or below 0, and
/// for a sum with a weight.
[[nodiscard]] WeighedLoss weighed(const char* op, const LossValue& found, double rows);

/// Throws ValueError where the weights of all ranks are 0.
[[noreturn]] void throw_nothing_counts(const char* op);

}  // namespace heatpp::nn::detail

#include <heatpp_nn/learning_rate.hpp>

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heatpp::nn {

double WarmupCosine::at(std::int64_t batch) const {
  if (batch < warmup) return peak * static_cast<double>(batch + 1) / static_cast<double>(warmup);
  const auto length = std::max<std::int64_t>(1, total - warmup);
  const auto done = std::clamp(static_cast<double>(batch - warmup) / static_cast<double>(length), 0.0, 1.0);
  return end + (peak - end) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
}

}  // namespace heatpp::nn

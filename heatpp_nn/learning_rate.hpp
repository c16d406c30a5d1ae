#pragma once

#include <cstdint>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {

/// A learning rate that rises evenly to `peak` over `warmup` batches, then falls along half a cosine to `end` at batch
/// `total`.
struct WarmupCosine {
  double peak = 0.1;
  std::int64_t warmup = 0;
  std::int64_t total = 1;
  double end = 0;

  [[nodiscard]] double at(std::int64_t batch) const;
};

/// Sets the learning rate of all parameter groups.
void set_learning_rate(torch::optim::Optimizer& optimizer, double rate);

}  // namespace heatpp::nn

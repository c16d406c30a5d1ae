#pragma once

#include <heatpp_nn/optim/layerwise.hpp>

namespace heatpp::nn {

/// Options of Lamb.
struct LambOptions : torch::optim::OptimizerCloneableOptions<LambOptions> {
  LambOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, beta1) = 0.9;
  TORCH_ARG(double, beta2) = 0.999;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, adapt) = true;  ///< false: AdamW, as is usual for biases and normalisation

 public:
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  double get_lr() const override { return lr(); }
  void set_lr(double lr) override { this->lr(lr); }
};

/// The state of Lamb for one parameter.
struct LambState : torch::optim::OptimizerCloneableParamState<LambState> {
  TORCH_ARG(at::Tensor, exp_avg) = {};
  TORCH_ARG(at::Tensor, exp_avg_sq) = {};
  TORCH_ARG(std::int64_t, step) = 0;
};

/// Adam with layer-wise steps in proportion to the norm of each layer's weights, for large batches (You et al. 2020).
/// With Adam's unbiased m and v, r = m / (sqrt(v) + eps) + decay w, and w = w - lr |w| / |r| r.
class Lamb : public LayerwiseOptimizer {
 public:
  explicit Lamb(std::vector<at::Tensor> parameters, LambOptions options = {});
  explicit Lamb(Groups groups, LambOptions options = {});
  /// Optimizes a replica's `parameters()`, also if ranks share the optimizer's work.
  explicit Lamb(const Replica& replica, LambOptions options = {});
  Lamb(const Replica& replica, Groups groups, LambOptions options = {});

 private:
  Squares prepare(const at::Tensor& tensor, const Options& options) override;
  void advance(const at::Tensor& tensor, const Options& options, const Squares& whole) override;
};

}  // namespace heatpp::nn

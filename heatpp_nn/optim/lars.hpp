#pragma once

#include <heatpp_nn/optim/layerwise.hpp>

namespace heatpp::nn {

/// Options of Lars.
struct LarsOptions : torch::optim::OptimizerCloneableOptions<LarsOptions> {
  LarsOptions(double lr = 0.1) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0.9;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, trust) = 0.001;  ///< fraction of a layer's weights that a step of rate 1 may change
  TORCH_ARG(bool, adapt) = true;     ///< false: SGD, as is usual for biases and normalisation

 public:
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  double get_lr() const override { return lr(); }
  void set_lr(double lr) override { this->lr(lr); }
};

/// The state of Lars for one parameter.
struct LarsState : torch::optim::OptimizerCloneableParamState<LarsState> {
  TORCH_ARG(at::Tensor, momentum) = {};
};

/// SGD with momentum and layer-wise rates in proportion to |w| / |g|, for large batches (You, Gitman, Ginsburg 2017).
/// v = m v + lr trust |w| / (|g| + decay |w|) (g + decay w); w = w - v.
class Lars : public LayerwiseOptimizer {
 public:
  explicit Lars(std::vector<at::Tensor> parameters, LarsOptions options = {});
  explicit Lars(Groups groups, LarsOptions options = {});
  /// Optimizes a replica's `parameters()`, also if ranks share the optimizer's work.
  explicit Lars(const Replica& replica, LarsOptions options = {});
  Lars(const Replica& replica, Groups groups, LarsOptions options = {});

 private:
  Squares prepare(const at::Tensor& tensor, const Options& options) override;
  void advance(const at::Tensor& tensor, const Options& options, const Squares& whole) override;
};

}  // namespace heatpp::nn

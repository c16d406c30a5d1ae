#pragma once

#include <torch/optim/optimizer.h>

#include <functional>
#include <span>
#include <vector>

namespace heatpp::nn {

class Replica;

/// The base of Lars, Lamb and Muon: an optimizer whose steps depend on whole parameters, for example on their norms. It
/// is also correct if ranks share its work.
class LayerwiseOptimizer : public torch::optim::Optimizer {
 public:
  using Groups = std::vector<torch::optim::OptimizerParamGroup>;
  at::Tensor step(LossClosure closure = nullptr) override;
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  using Options = torch::optim::OptimizerOptions;
  /// With a replica, whose `parameters()` the groups hold, each parameter is one layer, on whichever ranks its pieces
  /// lie. If ranks share the optimizer's work, `step` is collective. The replica must outlive this object.
  LayerwiseOptimizer(Groups groups, std::unique_ptr<Options> defaults, const Replica* replica);

  /// Sums of squares. Their roots determine the length of the step.
  struct Squares {
    double weights = 0, step = 0;
  };
  /// Processes the gradient of `tensor` and returns the sums of squares of the weights and of the step to make.
  virtual Squares prepare(const at::Tensor& tensor, const Options& options) = 0;
  /// Makes that step, with the sums of squares of the whole parameter.
  virtual void advance(const at::Tensor& tensor, const Options& options, const Squares& whole) = 0;
  /// Gives each piece what its step needs of the whole parameter, between `prepare` and `advance`: by default, the sums
  /// of squares over all pieces. Collective if ranks share the optimizer's work.
  virtual void complete(std::span<const at::Tensor> tensors, std::span<double> squares);
  [[nodiscard]] const Replica* replica() const { return replica_; }
  /// Creates the state of a parameter.
  template <class Kept>
  Kept& state_of(const at::Tensor& tensor) {
    auto& kept = state_[tensor.unsafeGetTensorImpl()];
    if (!kept) kept = std::make_unique<Kept>();
    return static_cast<Kept&>(*kept);
  }

 private:
  const Replica* replica_;
};

}  // namespace heatpp::nn

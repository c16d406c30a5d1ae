#pragma once

#include <heatpp_nn/parallel/sync_batch_norm.hpp>

#include <torch/nn/modules.h>

#include <array>

namespace heatpp::nn {

/// Options of ResNet.
struct ResNetOptions {
  std::array<std::int64_t, 4> blocks = {2, 2, 2, 2};  ///< number of blocks in each stage
  bool bottleneck = false;                            ///< blocks of 1x1, 3x3 and 1x1 instead of two 3x3
  std::int64_t channels = 3;                          ///< channels of the inputs
  std::int64_t classes = 1000;
  bool checkpointed = false;  ///< stores only the inputs of blocks for backward, which computes the rest again
};

/// A block of a ResNet: adds the result of its convolutions to the input.
class ResNetBlock : public torch::nn::Module {
 public:
  ResNetBlock(std::int64_t channels, std::int64_t width, std::int64_t stride, bool bottleneck);
  at::Tensor forward(const at::Tensor& x);

 private:
  void add(std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride);

  std::vector<torch::nn::Conv2d> convolutions_;
  std::vector<SyncBatchNorm> norms_;
  torch::nn::Sequential downsample_{nullptr};
};

/// A residual network (He et al. 2016), with the stride in the 3x3 convolution. Shapes and names are those of
/// torchvision, so that `load_safetensors` loads its weights. After `synchronise_norms` it normalises over all ranks.
/// Inputs are rows x channels x height x width, outputs rows x classes.
class ResNet : public torch::nn::Module {
 public:
  explicit ResNet(const ResNetOptions& options = {});
  at::Tensor forward(at::Tensor x);

 private:
  torch::nn::Conv2d conv1{nullptr};
  SyncBatchNorm bn1{nullptr};
  std::vector<torch::nn::Sequential> stages_;
  torch::nn::Linear fc{nullptr};
  bool checkpointed_;
};

[[nodiscard]] std::shared_ptr<ResNet> resnet18(std::int64_t classes = 1000);
[[nodiscard]] std::shared_ptr<ResNet> resnet34(std::int64_t classes = 1000);
[[nodiscard]] std::shared_ptr<ResNet> resnet50(std::int64_t classes = 1000);
[[nodiscard]] std::shared_ptr<ResNet> resnet101(std::int64_t classes = 1000);

}  // namespace heatpp::nn

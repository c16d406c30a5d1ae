#pragma once

#include <torch/nn/modules.h>

namespace heatpp::nn {

/// Options of UNet.
struct UNetOptions {
  std::int64_t inputs = 1, outputs = 1;  ///< channels
  std::int64_t width = 64;               ///< channels of the first level; each level below has twice as many
  std::int64_t depth = 4;                ///< number of levels below the first; each halves the field
  bool periodic = false;                 ///< fields are periodic; otherwise they are padded with zeros
  bool checkpointed = false;  ///< stores only the inputs of levels for backward, which computes the rest again
};

/// A network from fields to fields of the same size, for segmentation and for surrogates (Ronneberger, Fischer, Brox
/// 2015), with padding and batch normalisation; after `synchronise_norms` it normalises over all ranks. Inputs are rows
/// x channels x height x width. Names: encoder.K and decoder.K with conv1, bn1, conv2, bn2; bottom; up.K; head.
class UNet : public torch::nn::Module {
 public:
  explicit UNet(const UNetOptions& options = {});
  /// Throws ValueError if height or width is not a multiple of 2^depth.
  at::Tensor forward(at::Tensor x);

 private:
  std::int64_t depth_;
  bool checkpointed_;
  torch::nn::ModuleList encoder{nullptr}, up{nullptr}, decoder{nullptr};
  std::shared_ptr<torch::nn::Module> bottom;
  torch::nn::Conv2d head{nullptr};
};

}  // namespace heatpp::nn

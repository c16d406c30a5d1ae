#include <heatpp_nn/models/resnet.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/recompute.hpp>

namespace heatpp::nn {
namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride) {
  const nn::Conv2d layer(nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
  nn::init::kaiming_normal_(layer->weight, 0, torch::kFanOut, torch::kReLU);
  return layer;
}

std::int64_t widening(bool bottleneck) { return bottleneck ? 4 : 1; }

}  // namespace

ResNetBlock::ResNetBlock(std::int64_t channels, std::int64_t width, std::int64_t stride, bool bottleneck) {
  const auto out = width * widening(bottleneck);
  if (bottleneck) {
    add(channels, width, 1, 1);
    add(width, width, 3, stride);
    add(width, out, 1, 1);
  } else {
    add(channels, width, 3, stride);
    add(width, out, 3, 1);
  }
  if (stride != 1 || channels != out)
    downsample_ =
        register_module("downsample", nn::Sequential(convolution(channels, out, 1, stride), SyncBatchNorm(out)));
}

void ResNetBlock::add(std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride) {
  const auto number = convolutions_.size() + 1;
  convolutions_.push_back(
      register_module(heatpp::detail::formatted("conv{}", number), convolution(from, to, kernel, stride)));
  norms_.push_back(register_module(heatpp::detail::formatted("bn{}", number), SyncBatchNorm(to)));
}

at::Tensor ResNetBlock::forward(const at::Tensor& x) {
  auto y = x;
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    y = norms_[i](convolutions_[i](y));
    if (i + 1 < convolutions_.size()) y.relu_();
  }
  y += downsample_ ? downsample_->forward(x) : x;
  return y.relu_();
}

ResNet::ResNet(const ResNetOptions& options) : checkpointed_(options.checkpointed) {
  if (options.channels < 1 || options.classes < 1)
    heatpp::detail::raise<ValueError>("ResNet", "got {} channels and {} classes; expected at least 1 of both",
                                      options.channels, options.classes);
  conv1 = register_module("conv1", convolution(options.channels, 64, 7, 2));
  bn1 = register_module("bn1", SyncBatchNorm(64));
  std::int64_t channels = 64, width = 64;
  for (std::size_t stage = 0; stage < options.blocks.size(); ++stage, width *= 2) {
    nn::Sequential blocks;
    for (std::int64_t block = 0; block < options.blocks[stage]; ++block) {
      blocks->push_back(ResNetBlock(channels, width, stage > 0 && block == 0 ? 2 : 1, options.bottleneck));
      channels = width * widening(options.bottleneck);
    }
    stages_.push_back(register_module(heatpp::detail::formatted("layer{}", stage + 1), blocks));
  }
  fc = register_module("fc", nn::Linear(channels, options.classes));
}

at::Tensor ResNet::forward(at::Tensor x) {
  x = bn1(conv1(x)).relu_();
  x = at::max_pool2d(x, 3, 2, 1);
  for (auto& stage : stages_)
    for (const auto& child : stage->children()) {
      auto& block = *child->as<ResNetBlock>();
      x = checkpointed_ ? checkpointed(block, x) : block.forward(x);
    }
  return fc(x.mean({2, 3}));
}

std::shared_ptr<ResNet> resnet18(std::int64_t classes) {
  return std::make_shared<ResNet>(ResNetOptions{.blocks = {2, 2, 2, 2}, .classes = classes});
}
std::shared_ptr<ResNet> resnet34(std::int64_t classes) {
  return std::make_shared<ResNet>(ResNetOptions{.blocks = {3, 4, 6, 3}, .classes = classes});
}
std::shared_ptr<ResNet> resnet50(std::int64_t classes) {
  return std::make_shared<ResNet>(ResNetOptions{.blocks = {3, 4, 6, 3}, .bottleneck = true, .classes = classes});
}
std::shared_ptr<ResNet> resnet101(std::int64_t classes) {
  return std::make_shared<ResNet>(ResNetOptions{.blocks = {3, 4, 23, 3}, .bottleneck = true, .classes = classes});
}

}  // namespace heatpp::nn

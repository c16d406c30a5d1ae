#include <heatpp_nn/models/unet.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/recompute.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>

namespace heatpp::nn {
namespace {

namespace nn = torch::nn;

/// Two convolutions of 3x3.
struct Level : nn::Module {
  nn::Conv2d conv1, conv2;
  SyncBatchNorm bn1, bn2;

  Level(std::int64_t from, std::int64_t to, bool periodic)
      : conv1(register_module("conv1", convolution(from, to, periodic))),
        conv2(register_module("conv2", convolution(to, to, periodic))),
        bn1(register_module("bn1", SyncBatchNorm(to))),
        bn2(register_module("bn2", SyncBatchNorm(to))) {}

  static nn::Conv2d convolution(std::int64_t from, std::int64_t to, bool periodic) {
    nn::Conv2dOptions options(from, to, 3);
    options.padding(1).bias(false);
    if (periodic) options.padding_mode(torch::kCircular);
    return nn::Conv2d(options);
  }
  at::Tensor forward(const at::Tensor& x) { return bn2(conv2(bn1(conv1(x)).relu_())).relu_(); }
};

}  // namespace

UNet::UNet(const UNetOptions& options) : depth_(options.depth), checkpointed_(options.checkpointed) {
  if (options.inputs < 1 || options.outputs < 1 || options.width < 1 || options.depth < 1 || options.depth > 16)
    heatpp::detail::raise<ValueError>(
        "UNet", "got {} inputs, {} outputs, a width of {} and a depth of {}; expected at least 1, and a depth up to 16",
        options.inputs, options.outputs, options.width, options.depth);
  encoder = register_module("encoder", nn::ModuleList());
  up = register_module("up", nn::ModuleList());
  decoder = register_module("decoder", nn::ModuleList());
  auto channels = options.inputs, width = options.width;
  for (std::int64_t level = 0; level < depth_; ++level, width *= 2) {
    encoder->push_back(Level(channels, width, options.periodic));
    channels = width;
  }
  bottom = register_module("bottom", std::make_shared<Level>(channels, width, options.periodic));
  for (std::int64_t level = 0; level < depth_; ++level, width /= 2) {
    up->push_back(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(width, width / 2, 2).stride(2)));
    decoder->push_back(Level(width, width / 2, options.periodic));
  }
  head = register_module("head", nn::Conv2d(nn::Conv2dOptions(options.width, options.outputs, 1)));
}

at::Tensor UNet::forward(at::Tensor x) {
  const auto unit = std::int64_t{1} << depth_;
  if (x.dim() != 4 || x.size(2) % unit != 0 || x.size(3) % unit != 0)
    heatpp::detail::raise<ValueError>("UNet", "got inputs of {} x {}; expected multiples of {}",
                                      x.dim() > 2 ? x.size(2) : 0, x.dim() > 3 ? x.size(3) : 0, unit);
  const auto through = [this](Level& level, const at::Tensor& field) {
    return checkpointed_ ? checkpointed(level, field) : level.forward(field);
  };
  std::vector<at::Tensor> passed;
  for (std::int64_t level = 0; level < depth_; ++level) {
    passed.push_back(through(encoder->at<Level>(static_cast<std::size_t>(level)), x));
    x = at::max_pool2d(passed.back(), 2);
  }
  x = through(dynamic_cast<Level&>(*bottom), x);
  for (std::int64_t level = 0; level < depth_; ++level) {
    const auto i = static_cast<std::size_t>(level);
    x = up->at<nn::ConvTranspose2dImpl>(i).forward(x);
    x = through(decoder->at<Level>(i), at::cat({passed[passed.size() - 1 - i], x}, 1));
  }
  return head(x);
}

}  // namespace heatpp::nn

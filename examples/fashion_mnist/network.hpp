#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

/// Two convolutions and two dense layers: 28 x 28 grey pixels to the scores of 10 classes.
struct SmallCnn : torch::nn::Module {
  torch::nn::Conv2d conv1 = register_module("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 32, 3)));
  torch::nn::Conv2d conv2 = register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 64, 3)));
  torch::nn::Linear dense1 = register_module("dense1", torch::nn::Linear(1600, 128));
  torch::nn::Linear dense2 = register_module("dense2", torch::nn::Linear(128, 10));

  /// `images`: (n, 28, 28) of uint8.
  at::Tensor forward(const at::Tensor& images) {
    auto x = images.to(at::kFloat).div_(255).unsqueeze(1);
    x = at::max_pool2d(at::relu(conv1(x)), 2);
    x = at::max_pool2d(at::relu(conv2(x)), 2);
    return dense2(at::relu(dense1(x.flatten(1))));
  }
};

#pragma once

#include <cstdint>
#include <vector>

/// A layer of a network, as far as training it takes time: elements of its parameters, and products for an image.
struct Layer {
  std::vector<std::int64_t> parameters;
  double products = 0;
};

/// ResNet-50 (He et al. 2016) for images of 224 x 224, from the first layer to the last; blocks that halve the
/// resolution do so in their 3 x 3 convolution.
std::vector<Layer> resnet50();

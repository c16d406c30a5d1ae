#pragma once

#include <cstdint>
#include <vector>

/// The cost of a layer in training: the elements of its parameters, and the products for an image.
struct Layer {
  std::vector<std::int64_t> parameters;
  double products = 0;
};

/// Returns ResNet-50 (He et al. 2016) for images of 224 x 224, from the first layer to the last. Blocks that halve the
/// resolution do so in their 3 x 3 convolution.
std::vector<Layer> resnet50();

#include "network.hpp"

#include <array>

std::vector<Layer> resnet50() {
  std::vector<Layer> layers;
  const auto convolution = [&](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t extent) {
    const auto weights = in * out * kernel * kernel;  // and the normalization's scale and shift
    layers.push_back({{weights, out, out}, static_cast<double>(weights * extent * extent)});
  };
  convolution(3, 64, 7, 112);
  std::int64_t in = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t width = 64 << stage, extent = 56 >> stage;
    for (int block = 0; block < std::array{3, 4, 6, 3}[static_cast<std::size_t>(stage)]; ++block) {
      convolution(in, width, 1, block == 0 && stage > 0 ? 2 * extent : extent);
      convolution(width, width, 3, extent);
      convolution(width, 4 * width, 1, extent);
      if (block == 0) convolution(in, 4 * width, 1, extent);
      in = 4 * width;
    }
  }
  layers.push_back({{in * 1000, 1000}, static_cast<double>(in * 1000)});
  return layers;
}

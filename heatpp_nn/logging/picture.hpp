#pragma once

#include <heatpp/comm/communicator.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace at {
class Tensor;
}

namespace heatpp::nn {

/// Writes rank 0's picture in PNG format: (height, width), or (channels, height, width) with 1 or 3 channels; bytes, or
/// floats from 0 to 1, beyond which they are cut off. Collective. Throws ValueError on all ranks where rank 0's has
/// another shape, and IoError where it cannot be written.
void save_picture(const Communicator& comm, const std::filesystem::path& path, const at::Tensor& picture);

namespace detail {

struct EncodedPicture {
  int height, width, channels;
  std::string png;
};
[[nodiscard]] EncodedPicture encoded(std::string_view op, const at::Tensor& picture);

}  // namespace detail
}  // namespace heatpp::nn

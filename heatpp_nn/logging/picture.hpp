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
/// floats that are clamped to [0, 1]. Collective. Throws on all ranks: ValueError if rank 0's picture has another
/// shape, and IoError if it cannot be written.
void save_picture(const Communicator& comm, const std::filesystem::path& path, const at::Tensor& picture);

namespace detail {

struct EncodedPicture {
  int height, width, channels;
  std::string png;
};
[[nodiscard]] EncodedPicture encoded(std::string_view op, const at::Tensor& picture);

}  // namespace detail
}  // namespace heatpp::nn

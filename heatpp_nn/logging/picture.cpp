#include <heatpp_nn/logging/picture.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_nn/logging/detail/png.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

/// Returns the pixels as (height, width, channels), contiguous bytes.
at::Tensor pixels_of(const at::Tensor& picture) {
  const at::NoGradGuard no_grad;
  const auto bytes = picture.scalar_type() == at::kByte
                         ? picture.cpu()
                         : picture.to(at::kCPU, at::kDouble).clamp(0, 1).mul(255).round().to(at::kByte);
  return (bytes.dim() == 2 ? bytes.unsqueeze(-1) : bytes.permute({1, 2, 0})).contiguous();
}

}  // namespace

detail::EncodedPicture detail::encoded(std::string_view op, const at::Tensor& picture) {
  const auto channels = picture.dim() == 3 ? picture.size(0) : 1;
  if (picture.dim() < 2 || picture.dim() > 3 || (channels != 1 && channels != 3) || picture.numel() == 0)
    raise<ValueError>(op, "got a picture of shape {}; expected (h, w), (1, h, w) or (3, h, w)",
                      heatpp::detail::tuple_text(picture.sizes()));
  const auto pixels = pixels_of(picture);
  const auto height = static_cast<int>(pixels.size(0)), width = static_cast<int>(pixels.size(1));
  const std::span bytes(pixels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels.numel()));
  return {height, width, static_cast<int>(channels), png({bytes, width, height, static_cast<int>(channels)})};
}

void save_picture(const Communicator& comm, const std::filesystem::path& path, const at::Tensor& picture) {
  all_or_none(comm, [&] {
    if (comm.rank() == 0)
      io::detail::write_atomically("save_picture", path.string(), detail::encoded("save_picture", picture).png);
  });
}

}  // namespace heatpp::nn

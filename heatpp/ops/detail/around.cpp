#include <ATen/ATen.h>

#include <heatpp/ops/detail/around.hpp>

namespace heatpp::detail {

Around around(const at::Tensor& block, std::int64_t axis) {
  const auto sizes = block.sizes();
  const auto middle = static_cast<std::size_t>(axis);
  return {c10::multiply_integers(sizes.slice(0, middle)), sizes[middle],
          c10::multiply_integers(sizes.slice(middle + 1))};
}

at::Tensor readable(const at::Tensor& block) {
  if (block.scalar_type() == at::kBool) return block.view(at::kByte).cpu();
  const bool is_half = block.is_floating_point() && block.element_size() < 4;
  return block.to(at::kCPU, is_half ? at::kFloat : block.scalar_type());
}

}  // namespace heatpp::detail

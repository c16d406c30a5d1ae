#include <heatpp/ops/operands/detail/axis_order.hpp>

#include <numeric>

namespace heatpp::detail {

AxisOrder AxisOrder::unchanged(std::int64_t axes) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(axes));
  std::iota(order.begin(), order.end(), 0);
  return AxisOrder(std::move(order));
}

AxisOrder AxisOrder::in_memory(const at::Tensor& block) {
  auto order = unchanged(block.dim());
  const auto stretched = [&](auto axis) { return block.size(axis) > 1 && block.stride(axis) == 0; };
  if (!block.is_contiguous() && std::ranges::none_of(order.axes_, stretched))
    std::ranges::stable_sort(order.axes_, std::greater(), [&](auto axis) { return block.stride(axis); });
  return order;
}

std::vector<std::int64_t> AxisOrder::places_of(at::IntArrayRef axes) const {
  std::vector<std::int64_t> places;
  for (const auto axis : axes) places.push_back(place_of(axis));
  return places;
}

at::Tensor AxisOrder::restored(const at::Tensor& block) const {
  std::vector<std::int64_t> back(axes_.size());
  for (std::size_t place = 0; place < axes_.size(); ++place)
    back[static_cast<std::size_t>(axes_[place])] = static_cast<std::int64_t>(place);
  return block.permute(back);
}

at::Tensor concatenated(const std::vector<at::Tensor>& blocks, std::int64_t axis) {
  if (std::ranges::all_of(blocks, [](const auto& block) { return block.is_contiguous(); }))
    return at::cat(blocks, axis);
  const auto order = AxisOrder::in_memory(*std::ranges::max_element(blocks, {}, &at::Tensor::numel));
  std::vector<at::Tensor> permuted;
  for (const auto& block : blocks) {
    permuted.push_back(order.permuted(block));
    // LibTorch transposes a matrix faster alone than while it joins it.
    if (permuted.back().dim() == 2 && permuted.back().stride(1) > 1) permuted.back() = permuted.back().contiguous();
  }
  return order.restored(at::cat(permuted, order.place_of(axis)));
}

}  // namespace heatpp::detail

#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

namespace {

AroundAxes viewed(const at::Tensor& block, at::IntArrayRef axes, AxisOrder order) {
  AroundAxes view{.data = order.permuted(block).contiguous(), .order = std::move(order)};
  auto& [outer, n, inner] = view.extents;
  bool behind = false;
  for (const auto axis : view.order.axes()) {
    const bool gone = std::ranges::find(axes, axis) != axes.end();
    view.kept.push_back(gone ? 1 : block.size(axis));
    behind = behind || gone;
    (gone ? n : behind ? inner : outer) *= block.size(axis);
  }
  return view;
}

/// Returns the order with the given axes behind the others.
AxisOrder with_last(const AxisOrder& order, at::IntArrayRef axes) {
  auto result = order.axes();
  std::ranges::stable_partition(result, [&](auto axis) { return std::ranges::find(axes, axis) == axes.end(); });
  return AxisOrder(std::move(result));
}

}  // namespace

AroundAxes around_axes(const at::Tensor& block, at::IntArrayRef axes) {
  auto order = AxisOrder::in_memory(block);
  auto places = order.places_of(axes);
  std::ranges::sort(places);
  const bool neighbours = places.empty() || places.back() - places.front() + 1 == std::ssize(places);
  return viewed(block, axes, neighbours ? std::move(order) : with_last(order, axes));
}

AroundAxes before_axes(const at::Tensor& block, at::IntArrayRef axes) {
  return viewed(block, axes, with_last(AxisOrder::unchanged(block.dim()), axes));
}

at::Tensor readable(const at::Tensor& block) {
  if (block.scalar_type() == at::kBool) return block.view(at::kByte).cpu();
  const bool is_half = block.is_floating_point() && block.element_size() < 4;
  return block.to(at::kCPU, is_half ? at::kFloat : block.scalar_type());
}

}  // namespace heatpp::detail

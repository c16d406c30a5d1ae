#include <heatpp/ops/detail/around.hpp>

#include <functional>

namespace heatpp::detail {

Around around(const at::Tensor& block, std::int64_t axis) {
  const auto sizes = block.sizes();
  const auto middle = static_cast<std::size_t>(axis);
  return {c10::multiply_integers(sizes.slice(0, middle)), sizes[middle],
          c10::multiply_integers(sizes.slice(middle + 1))};
}

AroundAxes around_axes(const at::Tensor& block, at::IntArrayRef axes, bool last) {
  const auto reduced = [&](std::int64_t axis) { return std::ranges::find(axes, axis) != axes.end(); };
  auto order = AxisOrder::in_memory(block);
  const auto first = std::ranges::find_if(order.axes(), reduced), end = order.axes().end();
  const bool neighbours = std::none_of(std::find_if_not(first, end, reduced), end, reduced);
  if (last || !neighbours) {
    auto reduced_last = order.axes();
    std::ranges::stable_partition(reduced_last, std::not_fn(reduced));
    order = AxisOrder(std::move(reduced_last));
  }
  AroundAxes view{.data = order.permuted(block).contiguous(), .order = order};
  auto& [outer, n, inner] = view.extents;
  bool behind = false;
  for (const auto axis : order.axes()) {
    const bool gone = reduced(axis);
    view.kept.push_back(gone ? 1 : block.size(axis));
    behind = behind || gone;
    (gone ? n : behind ? inner : outer) *= block.size(axis);
  }
  return view;
}

at::Tensor readable(const at::Tensor& block) {
  if (block.scalar_type() == at::kBool) return block.view(at::kByte).cpu();
  const bool is_half = block.is_floating_point() && block.element_size() < 4;
  return block.to(at::kCPU, is_half ? at::kFloat : block.scalar_type());
}

}  // namespace heatpp::detail

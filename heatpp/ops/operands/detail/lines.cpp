#include <heatpp/ops/operands/detail/lines.hpp>

namespace heatpp::detail {

at::Tensor lines_along(const DNDarray& x, int axis) {
  const auto block = x.larray().cpu();
  std::int64_t lines = 1;
  for (int i = 0; i < x.ndim(); ++i) lines *= i == axis ? 1 : block.size(i);
  return block.movedim(axis, -1).reshape({lines, block.size(axis)}).contiguous();
}

DNDarray from_lines(const at::Tensor& lines, int axis, const Layout& layout, const DNDarray& like) {
  auto shape = layout.local_shape(like.comm().rank());
  const auto extent = shape[static_cast<std::size_t>(axis)];
  shape.erase(shape.begin() + axis);
  shape.push_back(extent);
  auto block = lines.view(shape).movedim(-1, axis).contiguous().to(like.larray().device());
  return wrap(std::move(block), layout, like.comm());
}

}  // namespace heatpp::detail

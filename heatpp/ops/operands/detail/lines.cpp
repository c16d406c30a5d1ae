#include <heatpp/ops/operands/detail/lines.hpp>

#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

at::Tensor lines_along(const at::Tensor& block, at::IntArrayRef axes) {
  const auto view = before_axes(block.cpu(), axes);
  return view.data.view({view.extents.outer, view.extents.n});
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

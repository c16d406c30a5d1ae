#include <heatpp/ops/joining/detail/padded.hpp>

#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>

namespace heatpp::detail {

Layout padded(const Layout& layout, int axis, const PadWidth& width) {
  const auto cut = layout.cut_along(axis);
  if (cut.ranks() == 1) return with_cut(layout, axis, Cut::even(cut.extent() + width.first + width.second, 1));
  auto offsets = cut.offsets();
  for (std::size_t place = 1; place < offsets.size(); ++place) offsets[place] += width.first;
  offsets.back() += width.second;
  return with_cut(layout, axis, Cut::at(std::move(offsets)));
}

DNDarray padded_with(const DNDarray& x, const std::vector<PadWidth>& widths, const Scalar& value) {
  const bool wraps = x.dtype() == uint8 && !value.is_floating();  // as in NumPy
  if (!wraps) check_in_range("pad", value, x.dtype());
  const auto rank = x.comm().rank();
  const auto order = AxisOrder::in_memory(x.larray());
  std::vector<std::int64_t> amounts(2 * widths.size(), 0);  // LibTorch counts from the last axis
  auto layout = x.layout();
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto& width = widths[static_cast<std::size_t>(axis)];
    const auto behind = static_cast<std::size_t>(x.ndim() - 1 - order.place_of(axis));
    const int place = x.layout().place_along(axis, rank);
    amounts[2 * behind] = place == 0 ? width.first : 0;
    amounts[2 * behind + 1] = place == x.layout().cut_along(axis).ranks() - 1 ? width.second : 0;
    layout = padded(layout, axis, width);
  }
  auto block = allocated("pad", layout, x.larray().options(), x.comm(), [&] {
    return at::constant_pad_nd(order.permuted(x.larray()), amounts, element_of(value, x.dtype()));
  });
  return wrap(order.restored(block), std::move(layout), x.comm());
}

}  // namespace heatpp::detail

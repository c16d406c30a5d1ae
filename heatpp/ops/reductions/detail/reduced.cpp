#include <heatpp/ops/reductions/detail/reduced.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>

#include <algorithm>

namespace heatpp::detail {

bool ReducedAxes::contains(int axis) const { return std::ranges::binary_search(axes, std::int64_t{axis}); }

Layout ReducedAxes::result_layout(const Layout& layout) const {
  Shape shape;
  int split = -1;
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    if (contains(axis) && !keepdims) continue;
    if (layout.split() == axis) split = static_cast<int>(shape.size());
    shape.push_back(contains(axis) ? 1 : layout.shape()[static_cast<std::size_t>(axis)]);
  }
  if (over_split || !layout.split()) return layout.replicated(std::move(shape));
  return layout.with(std::move(shape), split);
}

/// As in NumPy, a number may be reduced along axis 0, which it does not have.
ReducedAxes reduced_axes(const char* op, const DNDarray& x, const ReduceOptions& options) {
  ReducedAxes reduced{.axes = {}, .keepdims = options.keepdims};
  if (!options.axis.all()) {
    auto given = options.axis.values();
    if (x.ndim() == 0 && (given == std::vector{0} || given == std::vector{-1})) given.clear();
    const auto axes = different_axes(op, given, x.ndim());
    reduced.axes.assign(axes.begin(), axes.end());
    std::ranges::sort(reduced.axes);
  } else {
    for (int axis = 0; axis < x.ndim(); ++axis) reduced.axes.push_back(axis);
  }
  reduced.over_split = x.split() && reduced.contains(*x.split());
  if (reduced.over_split) expect_alike(op, x);
  for (const auto axis : reduced.axes) reduced.count *= x.shape()[static_cast<std::size_t>(axis)];
  return reduced;
}

at::Tensor mask_block(const char* op, const DNDarray& x, const DNDarray& where) {
  check_bool(op, where);
  return align_to(op, x, where).expand(x.lshape());
}

}  // namespace heatpp::detail

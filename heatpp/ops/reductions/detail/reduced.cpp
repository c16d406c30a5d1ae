#include <heatpp/ops/reductions/detail/reduced.hpp>

#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>

#include <algorithm>

namespace heatpp::detail {

bool ReducedAxes::contains(int axis) const { return std::ranges::binary_search(axes, std::int64_t{axis}); }

Layout ReducedAxes::result_layout(const Layout& layout) const {
  Shape shape;
  std::vector<int> kept;
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    if (contains(axis) && !keepdims) continue;
    kept.push_back(contains(axis) ? -1 : axis);
    shape.push_back(contains(axis) ? 1 : layout.shape()[static_cast<std::size_t>(axis)]);
  }
  return layout.along(std::move(shape), kept);
}

at::Tensor ReducedAxes::counted(const at::Tensor& block) const {
  return is_copy ? block.narrow(axes.front(), 0, 0) : block;
}

namespace {

/// Whether a cut axis is reduced, so that several ranks have parts of one result.
bool over_cut(const ReducedAxes& reduced, const Layout& layout) {
  return std::ranges::any_of(reduced.axes, [&](auto axis) { return cuts_along(layout, static_cast<int>(axis)); });
}

}  // namespace

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
  if (over_cut(reduced, x.layout())) {
    reduced.across = group_along(x.layout(), x.comm(), reduced.axes, Copies::together);
    expect_alike(*reduced.across, op, [&] { return formatted("{} {}", name(x.dtype()), layout_text(x.layout())); });
    reduced.is_copy = x.layout().is_grid() && x.layout().grid_cut().copy_of(x.comm().rank()) > 0;
  }
  for (const auto axis : reduced.axes) reduced.count *= x.shape()[static_cast<std::size_t>(axis)];
  return reduced;
}

at::Tensor mask_block(const char* op, const DNDarray& x, const DNDarray& where) {
  check_bool(op, where);
  return align_to(op, x, where).expand(x.lshape());
}

}  // namespace heatpp::detail

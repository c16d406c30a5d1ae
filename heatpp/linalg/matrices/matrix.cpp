#include <heatpp/linalg/matrices/matrix.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace heatpp {
namespace {

using detail::raise;

/// Moves the vectors of `x` to the last axis, which is not split.
DNDarray with_vectors_last(const DNDarray& x, int axis) {
  if (x.ndim() == 0) raise<ValueError>("cross", "got an array without axes; expected vectors");
  const auto moved = moveaxis(detail::one_cut("cross", x), sanitize_axis(axis, x.ndim(), "cross"), x.ndim() - 1);
  const auto components = moved.shape().back();
  if (components != 2 && components != 3)
    raise<ValueError>("cross", "got vectors with {} components along axis {} of shape {}; expected 2 or 3", components,
                      axis, to_string(x.shape()));
  if (moved.layout().cut_along(moved.ndim() - 1).ranks() == 1) return moved;
  const auto others = std::span(moved.shape()).first(moved.shape().size() - 1);
  std::optional<int> longest;
  if (!others.empty()) longest = static_cast<int>(std::ranges::max_element(others) - others.begin());
  return detail::brought_to(moved, Layout(moved.shape(), longest, x.comm().size()));
}

DNDarray component(const DNDarray& x, int which) {
  const Shape shape(x.shape().begin(), x.shape().end() - 1);
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  return detail::wrap(x.larray().select(-1, which), x.layout().along(shape, axes), x.comm());
}

void check_vectors(const char* op, const DNDarray& x) {
  if (x.ndim() != 1) raise<ValueError>(op, "got an array of shape {}; expected a vector", to_string(x.shape()));
}

}  // namespace

DNDarray trace(const DNDarray& x, const DiagonalOptions& options) {
  if (x.ndim() < 2)
    raise<ValueError>("trace", "got an array of shape {}; expected two axes or more", to_string(x.shape()));
  if (const auto axis = sanitize_axis(options.axis1, x.ndim(), "trace");
      axis == sanitize_axis(options.axis2, x.ndim(), "trace"))
    raise<ValueError>("trace", "got axis {} twice; expected two different axes", axis);
  return sum(diagonal(detail::one_cut("trace", x), options), -1);
}

DNDarray cross(const DNDarray& a, const DNDarray& b, const CrossOptions& options) {
  const auto x = with_vectors_last(a, options.axisa), y = with_vectors_last(b, options.axisb);
  const auto minor = [&](int i, int j) {
    return component(x, i) * component(y, j) - component(x, j) * component(y, i);
  };
  const bool flat_x = x.shape().back() == 2, flat_y = y.shape().back() == 2;
  if (flat_x && flat_y) return minor(0, 1);
  // The third component of a vector with two components is 0.
  if (flat_y)
    return stack({-(component(x, 2) * component(y, 1)), component(x, 2) * component(y, 0), minor(0, 1)}, options.axisc);
  if (flat_x)
    return stack({component(x, 1) * component(y, 2), -(component(x, 0) * component(y, 2)), minor(0, 1)}, options.axisc);
  return stack({minor(1, 2), minor(2, 0), minor(0, 1)}, options.axisc);
}

DNDarray projection(const DNDarray& a, const DNDarray& b) {
  check_vectors("projection", a);
  check_vectors("projection", b);
  return vdot(b, a) / vdot(b, b) * b;
}

DNDarray vander(const DNDarray& vector, const VanderOptions& options) {
  const auto x = detail::one_cut("vander", vector);
  check_vectors("vander", x);
  const auto n = options.n.value_or(x.size());
  if (n < 0) raise<ValueError>("vander", "got n {}; expected n >= 0", n);
  const auto block = x.dtype() == bool_ ? x.larray().to(at::kLong) : x.larray();
  const auto layout = x.layout().along({x.size(), n}, std::array{0, -1});
  const auto make = [&] { return at::vander(block, n, options.increasing); };
  return detail::wrap(detail::allocated("vander", layout, block.options(), x.comm(), make), layout, x.comm());
}

namespace linalg {

DNDarray cross(const DNDarray& a, const DNDarray& b, int axis) {
  for (const auto& x : {a, b})
    if (const auto n = x.shape()[static_cast<std::size_t>(sanitize_axis(axis, x.ndim(), "cross"))]; n != 3)
      raise<ValueError>("cross", "got vectors with {} components along axis {} of shape {}; expected 3", n, axis,
                        to_string(x.shape()));
  return heatpp::cross(a, b, {axis, axis, axis});
}

}  // namespace linalg
}  // namespace heatpp

#include <heatpp/ops/reductions/detail/weights.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {

DNDarray weights_along(const char* op, const DNDarray& x, const DNDarray& weights, const Axes& axes) {
  if (weights.shape() == x.shape()) return weights;
  Shape expected;
  std::vector<int> given;
  if (!axes.all())
    for (const auto axis : axes.values()) {
      given.push_back(sanitize_axis(axis, x.ndim(), op));
      expected.push_back(x.shape()[static_cast<std::size_t>(given.back())]);
    }
  if (axes.all())
    raise<TypeError>(op, "got weights of shape {} for an array of shape {} and no axis; expected the same shape or one",
                     to_string(weights.shape()), to_string(x.shape()));
  if (weights.shape() != expected)
    raise<ValueError>(op, "got weights of shape {} for an array of shape {}; expected the same or {}",
                      to_string(weights.shape()), to_string(x.shape()), to_string(expected));
  std::vector<int> order(given.size()), others;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int i) { return given[static_cast<std::size_t>(i)]; });
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (std::ranges::find(given, axis) == given.end()) others.push_back(axis);
  return expand_dims(transpose(weights, order), others);
}

}  // namespace heatpp::detail

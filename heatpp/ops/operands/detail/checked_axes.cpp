#include <heatpp/ops/operands/detail/checked_axes.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>

namespace heatpp::detail {

void check_ndim(const char* op, const DNDarray& x, int least) {
  if (x.ndim() < least)
    raise<ValueError>(op, "got an array of shape {}; expected at least {} {}", to_string(x.shape()), least,
                      least == 1 ? "axis" : "axes");
}

std::vector<int> different_axes(const char* op, const std::vector<int>& axes, int ndim) {
  std::vector<int> result;
  for (const auto axis : axes) result.push_back(sanitize_axis(axis, ndim, op));
  auto sorted = result;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    raise<ValueError>(op, "got axes {} with one twice; expected different axes", tuple_text(axes));
  return result;
}

void check_axes(const char* op, const DNDarray& x, const Axes& axes) {
  for (const auto axis : axes.values()) (void)sanitize_axis(axis, x.ndim(), op);
}

}  // namespace heatpp::detail

#include <heatpp/core/shape.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <ostream>

namespace heatpp {

std::string to_string(const Shape& shape) { return detail::tuple_text(shape); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }
std::string to_string(const std::optional<int>& split) {
  return split ? detail::formatted("split {}", *split) : "split none";
}

std::int64_t size_of(const Shape& shape) {
  std::int64_t size = 1;
  for (const auto extent : shape)
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size))
      detail::raise<ValueError>("shape", "got {}; expected extents >= 0 whose product fits 63 bits", to_string(shape));
  return size;
}

bool detail::broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(), [](auto a, auto b) { return a == b || a == 1; });
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 1; i <= result.size(); ++i) {
    const auto extent_a = i <= a.size() ? a[a.size() - i] : 1;
    const auto extent_b = i <= b.size() ? b[b.size() - i] : 1;
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1)
      detail::raise<ValueError>(op, "got arrays of shapes {} and {}; expected shapes that broadcast", to_string(a),
                                to_string(b));
    result[result.size() - i] = extent_a == 1 ? extent_b : extent_a;
  }
  (void)size_of(result);  // throws for negative extents
  return result;
}

Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  Shape result;
  for (const auto& shape : shapes) result = broadcast_shapes(result, shape);
  return result;
}

Shape sanitize_shape(const Shape& shape) {
  (void)size_of(shape);
  return shape;
}

int sanitize_axis(int axis, int ndim, const char* op) {
  if (axis < -ndim || axis >= ndim)
    detail::raise<IndexError>(op, "got axis {} for an array with {} axes; expected {} <= axis < {}", axis, ndim, -ndim,
                              ndim);
  return axis < 0 ? axis + ndim : axis;
}

}  // namespace heatpp

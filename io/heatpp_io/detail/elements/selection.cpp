#include <heatpp_io/detail/elements/selection.hpp>

#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::io::detail {

Selection select(const Shape& shape, const std::vector<Slice>& slices, const char* op) {
  if (slices.size() > shape.size())
    heatpp::detail::raise<ValueError>(op, "got {} slices for a dataset of shape {}; expected at most {}", slices.size(),
                                      to_string(shape), shape.size());
  Selection box;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto slice = axis < slices.size() ? slices[axis] : Slice{};
    if (slice.step < 1)
      heatpp::detail::raise<ValueError>(op, "got step {} in the slice of axis {}; expected a positive step", slice.step,
                                        axis);
    box.push_back(resolve(slice, shape[axis], op));
  }
  return box;
}

Shape extents(const Selection& box) {
  Shape shape;
  for (const auto& axis : box) shape.push_back(axis.count);
  return shape;
}

Selection narrow(Selection box, int axis, std::int64_t first, std::int64_t count) {
  auto& range = box[static_cast<std::size_t>(axis)];
  range.start += first * range.step;
  range.count = count;
  return box;
}

Selection narrow(Selection box, const Shape& first, const Shape& count) {
  for (std::size_t axis = 0; axis < box.size(); ++axis)
    box = narrow(std::move(box), static_cast<int>(axis), first[axis], count[axis]);
  return box;
}

}  // namespace heatpp::io::detail

#include <heatpp_io/vtkhdf/detail/vtkhdf_step.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

constexpr auto op = vtkhdf_op;

int grid_axes(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options) {
  if (options.axes != 0) return options.axes;
  int fewest = 3;
  for (const auto& [name, x] : arrays) fewest = std::min(fewest, x.ndim());
  return fewest;
}

void check_name(const std::vector<NamedArray>& arrays, const std::string& name) {
  const auto alike = std::ranges::count(arrays, name, [](const auto& each) { return each.first; });
  if (name.empty() || name == "." || name.find_first_of(std::string("/\0", 2)) != std::string::npos || alike > 1)
    raise<ValueError>(op, "got name {:?} among {} arrays; expected names that are different, not empty and without /",
                      name, arrays.size());
}

void check_dtype(const std::string& name, const DNDarray& x) {
  if (!is_whole(x.dtype()) && x.dtype() != float32 && x.dtype() != float64)
    raise<TypeError>(op,
                     "got {} for \"{}\"; expected bool, whole numbers, float32 or float64, to which astype converts",
                     heatpp::name(x.dtype()), name);
}

void check_numbers(const char* what, const std::vector<double>& numbers, int axes) {
  const bool finite = std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
  if (!numbers.empty() && (std::ssize(numbers) != axes || !finite))
    raise<ValueError>(op, "got {} {} for a grid of {} axes; expected one finite number for each", what,
                      heatpp::detail::tuple_text(numbers), axes);
}

/// Returns the extents of the grid without leading ones: for a flat grid, VTK expects fewer axes in the file.
Shape stored_extents(Shape extents) {
  while (extents.size() > 1 && extents[0] == 1) extents.erase(extents.begin());
  return extents;
}

void check_extents(const Shape& extents) {
  const bool fit =
      std::ranges::all_of(extents, [](auto n) { return n >= 1 && n <= std::numeric_limits<std::int32_t>::max(); });
  const auto stored = stored_extents(extents);
  if (!fit || (stored.size() == 3 && stored[1] == 1))
    raise<ValueError>(op,
                      "got a grid of extents {}; expected 1 to 2147483647 along each axis, and an axis of one "
                      "point before longer ones",
                      heatpp::to_string(extents));
}

void check_grid(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options) {
  const auto axes = grid_axes(arrays, options);
  if (arrays.empty() || axes < 1 || axes > 3)
    raise<ValueError>(op, "got {} arrays on a grid of {} axes; expected at least one array, and 1 to 3 axes",
                      arrays.size(), axes);
  const auto& first = arrays[0].second.shape();
  for (const auto& [name, x] : arrays) {
    const auto more = x.ndim() - axes;
    if (more < 0 || more > 1 || !std::equal(first.begin(), first.begin() + axes, x.shape().begin()) ||
        (more == 1 && x.shape().back() < 1))
      raise<ValueError>(op,
                        "got \"{}\" of shape {} on a grid of {} axes with \"{}\" of shape {}; expected the extents "
                        "of one grid, and perhaps an axis of components",
                        name, heatpp::to_string(x.shape()), axes, arrays[0].first, heatpp::to_string(first));
  }
  check_extents(Shape(first.begin(), first.begin() + axes));
  check_numbers("spacing", options.spacing, axes);
  check_numbers("origin", options.origin, axes);
}

void check_cloud(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options) {
  const auto& points = *options.points;
  if (points.ndim() != 2 || points.shape(1) < 1 || points.shape(1) > 3)
    raise<ValueError>(op, "got points of shape {}; expected (n, 1), (n, 2) or (n, 3)",
                      heatpp::to_string(points.shape()));
  check_dtype("points", points);
  for (const auto& [name, x] : arrays)
    if (x.ndim() < 1 || x.ndim() > 2 || x.shape(0) != points.shape(0) || (x.ndim() == 2 && x.shape(1) < 1))
      raise<ValueError>(op, "got \"{}\" of shape {} for {} points; expected (n) or (n, components)", name,
                        heatpp::to_string(x.shape()), points.shape(0));
  if (options.axes != 0 || !options.spacing.empty() || !options.origin.empty())
    raise<ValueError>(op, "got axes, spacing or origin for a cloud of points; expected none");
}

/// Returns the same elements in another shape, whose axis `split` is cut as that of `x`. Local.
DNDarray reshaped(const DNDarray& x, Shape shape, std::optional<int> split) {
  const auto layout = x.layout().with(std::move(shape), split);
  return heatpp::detail::wrap(x.larray().reshape(layout.local_shape(x.comm().rank())), layout, x.comm());
}

/// Returns the array without the leading axes of its grid that VTK does not expect in files.
DNDarray without_flat_axes(const DNDarray& x, int axes) {
  const Shape extents(x.shape().begin(), x.shape().begin() + axes);
  const auto flat = axes - static_cast<int>(stored_extents(extents).size());
  if (flat == 0) return x;
  const auto cut = x.layout().is_grid() || (x.split() && *x.split() < flat) ? resplit(x, flat) : x;
  const auto split = cut.split() ? std::optional(*cut.split() - flat) : std::nullopt;
  return reshaped(cut, Shape(x.shape().begin() + flat, x.shape().end()), split);
}

DNDarray stored(const DNDarray& x) { return x.dtype() == bool_ ? x.astype(uint8) : x; }

/// Returns positions along x, y and z, with zeros for missing coordinates.
DNDarray positions(const DNDarray& points) {
  const auto wide = is_whole(points.dtype()) ? points.astype(float64) : points;
  const auto missing = 3 - points.shape(1);
  if (missing == 0) return wide;
  const auto cut = wide.layout().is_grid() || wide.split() == 1 ? resplit(wide, 0) : wide;
  return heatpp::detail::wrap(at::constant_pad_nd(cut.larray(), {0, missing}),
                              cut.layout().with({points.shape(0), 3}, cut.split()), cut.comm());
}

std::string point_data(const std::string& name) { return "VTKHDF/PointData/" + name; }

/// Sets numbers for the axes of an array, of which the last is x.
void set_reversed(std::array<double, 3>& to, const std::vector<double>& from) {
  std::copy(from.rbegin(), from.rend(), to.begin());
}

}  // namespace

void check_vtkhdf(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options) {
  if (options.points) check_cloud(arrays, options);
  else check_grid(arrays, options);
  for (const auto& [name, x] : arrays) {
    check_name(arrays, name);
    check_dtype(name, x);
  }
  if (options.time && !std::isfinite(*options.time))
    raise<ValueError>(op, "got time {}; expected a finite number", *options.time);
  if (options.compression && (*options.compression < 0 || *options.compression > 9))
    raise<ValueError>(op, "got compression level {}; expected 0 to 9", *options.compression);
}

VtkStep vtk_step(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options) {
  VtkStep step;
  step.cloud = options.points.has_value();
  const auto axes = step.cloud ? 0 : grid_axes(arrays, options);
  for (const auto& [name, x] : arrays)
    step.arrays.push_back({point_data(name), stored(step.cloud ? x : without_flat_axes(x, axes))});
  if (step.cloud) {
    step.points = options.points->shape(0);
    step.arrays.push_back({vtkhdf_points, positions(*options.points)});
    return step;
  }
  for (int axis = 0; axis < axes; ++axis)
    step.extent[static_cast<std::size_t>(2 * axis + 1)] = arrays[0].second.shape(axes - 1 - axis) - 1;
  set_reversed(step.spacing, options.spacing);
  set_reversed(step.origin, options.origin);
  return step;
}

DNDarray with_time_axis(const DNDarray& x) {
  if (x.layout().is_grid()) return with_time_axis(resplit(x, 0));
  auto shape = x.shape();
  shape.insert(shape.begin(), 1);
  return reshaped(x, std::move(shape), x.split() ? std::optional(*x.split() + 1) : std::nullopt);
}

}  // namespace heatpp::io::detail

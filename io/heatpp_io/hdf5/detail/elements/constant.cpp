#include <heatpp_io/hdf5/detail/elements/constant.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <vector>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

hssize_t count_of(hid_t attribute) { return H5Sget_simple_extent_npoints(Handle(H5Aget_space(attribute)).get()); }

/// Returns nothing if the attribute is not a list of extents.
std::optional<Shape> extents_of(hid_t group) {
  const Handle attribute(H5Aopen(group, "shape", H5P_DEFAULT)), type(H5Aget_type(attribute.get()));
  const auto count = count_of(attribute.get());
  if (H5Tget_class(type.get()) != H5T_INTEGER || count < 0 || count > static_cast<hssize_t>(max_ndim))
    return std::nullopt;
  Shape shape(static_cast<std::size_t>(count));
  if (count > 0 && H5Aread(attribute.get(), H5T_NATIVE_INT64, shape.data()) < 0) return std::nullopt;
  return shape;
}

}  // namespace

bool is_constant(hid_t group) { return H5Aexists(group, "value") > 0 && H5Aexists(group, "shape") > 0; }

Constant constant_of(hid_t group, const std::string& what, const char* op) {
  const Handle attribute(H5Aopen(group, "value", H5P_DEFAULT)), type(H5Aget_type(attribute.get()));
  const auto element = element_type(type.get());
  const auto extents = extents_of(group);
  if (!element || !extents || count_of(attribute.get()) != 1)
    raise<IoError>(op,
                   "got {}, a group with attributes value and shape that are no number and extents; expected those of "
                   "a constant component of openPMD",
                   what);
  Constant found{*element, *extents, {}};
  checked_bytes(found.shape, static_cast<std::int64_t>(itemsize(element->dtype)), what, op);
  if (H5Aread(attribute.get(), memory_type(*element, type.get()).get(), found.value.data()) < 0)
    raise<IoError>(op, "got {}, whose value cannot be read ({}); expected a complete file", what, innermost_error());
  return found;
}

}  // namespace heatpp::io::detail

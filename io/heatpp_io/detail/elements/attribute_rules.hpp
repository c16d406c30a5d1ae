#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/netcdf/netcdf_format.hpp>

namespace heatpp::io::detail {

/// The place where an attribute is written; only netCDF's rules need it.
struct AttributePlace {
  Dtype dtype = float32;  ///< dtype of the array
  NetcdfFormat format = NetcdfFormat::netcdf4;
};

/// What a format accepts as attributes and as names of dimensions. Each function returns what the format expects if it
/// cannot store the argument, else nothing.
struct AttributeRules {
  std::string (*attribute)(const std::string& name, const Attribute& value, const AttributePlace& place);
  std::string (*dimensions)(const std::vector<std::string>& names, const Shape& shape);
};
extern const AttributeRules hdf5_rules, netcdf_rules, zarr_rules;

/// Whether all numbers of an attribute can be elements of a dtype; false for texts.
[[nodiscard]] bool fits(const Attribute& value, Dtype dtype);

/// Whether an attribute of a new array gets the array's type, as CF asks for _FillValue, missing_value, valid_min, ...
/// This requires that the type has room for its numbers. Except for _FillValue they must be exact, so that no number
/// becomes the value of an element.
[[nodiscard]] bool gets_its_type(const std::string& name, const Attribute& value, Dtype dtype);

/// Whether HDF5 or netCDF use an attribute of this name for their own purposes.
[[nodiscard]] bool is_of_hdf5(const std::string& name);

/// Throws ValueError naming `op` for annotations that the rules refuse.
void check(const char* op, const Annotations& annotations, const Shape& shape, const AttributeRules& rules,
           const AttributePlace& place);

/// Returns the annotations that the rules accept, and logs those that they refuse.
[[nodiscard]] Annotations allowed(const char* op, const Annotations& annotations, const Shape& shape,
                                  const AttributeRules& rules, const AttributePlace& place);

}  // namespace heatpp::io::detail

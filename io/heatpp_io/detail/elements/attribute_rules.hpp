#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/netcdf/netcdf_format.hpp>

namespace heatpp::io::detail {

/// Where an attribute is to be written; only netCDF's rules ask for it.
struct AttributePlace {
  Dtype dtype = float32;  ///< of the array
  NetcdfFormat format = NetcdfFormat::netcdf4;
};

/// What a format takes as attributes and as names of dimensions: each tells what it expects in place of what it has no
/// room for, and nothing of what it has.
struct AttributeRules {
  std::string (*attribute)(const std::string& name, const Attribute& value, const AttributePlace& place);
  std::string (*dimensions)(const std::vector<std::string>& names, const Shape& shape);
};
extern const AttributeRules hdf5_rules, netcdf_rules, zarr_rules;

/// Whether all numbers of an attribute can be elements of a dtype; false for texts.
[[nodiscard]] bool fits(const Attribute& value, Dtype dtype);

/// Whether an attribute of a new array gets the array's type, as CF wants it: _FillValue, missing_value, valid_min,
/// ..., where the type has room for its numbers; those but for _FillValue as they are, so that none becomes an
/// element's.
[[nodiscard]] bool gets_its_type(const std::string& name, const Attribute& value, Dtype dtype);

/// Whether HDF5 or netCDF keep their own books by an attribute of this name.
[[nodiscard]] bool is_of_hdf5(const std::string& name);

/// Throws ValueError naming `op` for what the rules refuse.
void check(const char* op, const Annotations& annotations, const Shape& shape, const AttributeRules& rules,
           const AttributePlace& place);

/// What the rules do not refuse; what they do is told to the log.
[[nodiscard]] Annotations allowed(const char* op, const Annotations& annotations, const Shape& shape,
                                  const AttributeRules& rules, const AttributePlace& place);

}  // namespace heatpp::io::detail

#pragma once

#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>

namespace heatpp::io::detail {

/// Returns the attributes of a variable that are texts, numbers, or lists of these. Throws IoError naming `op` and
/// `path` for attributes that cannot be read or have 2^23 elements or more.
[[nodiscard]] Attributes read_attributes(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Returns only the attributes that decode the numbers of a variable. Throws as read_attributes.
[[nodiscard]] Attributes read_decoding(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Writes the attributes of a new variable. Those that CF requires in the variable's type (_FillValue, missing_value,
/// valid_min, ...) get this type if it has room for them. Other whole numbers get 32 bits if these suffice, else 64
/// bits, or float64 in formats without 64-bit ones. Throws ValueError naming `op` and `path` for what netCDF refuses.
void write_attributes(const NetcdfVariable& variable, const Attributes& attributes, const AttributePlace& place,
                      const std::string& path, const char* op);

}  // namespace heatpp::io::detail

#pragma once

#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>

namespace heatpp::io::detail {

/// The attributes of a variable that are texts, numbers, or lists of them. Throws IoError naming `op` and `path` for
/// those that cannot be read, or are of 2^23 elements or more.
[[nodiscard]] Attributes read_attributes(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Those that say what the numbers of a variable mean, alone. Throws as read_attributes.
[[nodiscard]] Attributes read_decoding(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Gives a new variable its own. Those that CF wants in the variable's type (_FillValue, missing_value, valid_min, ...)
/// are so where it has room for them; other whole numbers are 32-bit ones where these have, else 64-bit ones, and in
/// formats without those float64. Throws ValueError naming `op` and `path` for what netCDF refuses.
void write_attributes(const NetcdfVariable& variable, const Attributes& attributes, const AttributePlace& place,
                      const std::string& path, const char* op);

}  // namespace heatpp::io::detail

#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>
#include <heatpp_io/netcdf/netcdf_format.hpp>

namespace heatpp::io::detail {

/// The attributes of a variable that are texts, numbers, or lists of them. Throws IoError naming `op` and `path` for
/// those that cannot be read, or are of 2^23 elements or more.
[[nodiscard]] Attributes read_attributes(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Gives a new variable its own; _FillValue in its type. Whole numbers are 32-bit ones where these have room for them,
/// else 64-bit ones, and in formats without those float64. Throws ValueError naming `op` and `path` for what the format
/// has not.
void write_attributes(const NetcdfVariable& variable, const Attributes& attributes, NetcdfFormat format,
                      const std::string& path, const char* op);

}  // namespace heatpp::io::detail

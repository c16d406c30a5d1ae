#pragma once

#include <cstdint>

namespace heatpp::io {

/// What a netCDF file is inside. `netcdf4` is HDF5, with groups, chunks and compression; the others are the classic
/// formats, which every reader of netCDF and PnetCDF knows: `cdf5` (NETCDF3_64BIT_DATA) has the dtypes of netCDF-4 and
/// no limits, `cdf2` (NETCDF3_64BIT_OFFSET) and `cdf1` (NETCDF3_CLASSIC) have neither uint8 nor int64, axes below 2^31,
/// and variables of less than 4 and 2 GiB but for the last.
enum class NetcdfFormat : std::uint8_t { netcdf4, cdf5, cdf2, cdf1 };

}  // namespace heatpp::io

#pragma once

#include <cstdint>

namespace heatpp::io {

/// The format inside a netCDF file. `netcdf4` is HDF5, with groups, chunks and compression. The others are the classic
/// formats, which every reader of netCDF and PnetCDF knows: `cdf5` (NETCDF3_64BIT_DATA) has the dtypes of netCDF-4 and
/// no limits; `cdf2` (NETCDF3_64BIT_OFFSET) and `cdf1` (NETCDF3_CLASSIC) do not have uint8 and int64, and limit axes to
/// below 2^31, and variables except the last to less than 4 GiB and 2 GiB.
enum class NetcdfFormat : std::uint8_t { netcdf4, cdf5, cdf2, cdf1 };

}  // namespace heatpp::io

#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>
#include <heatpp_io/netcdf/netcdf_format.hpp>

namespace heatpp::io {

/// Whether the library was built with netCDF; without it, the functions below throw NotCompiled.
[[nodiscard]] bool supports_netcdf();

/// A variable of one netCDF file (netCDF-4, or one of the classic formats), or the variables of that name of many files
/// put together along their first dimension, as load_hdf5 does. Groups as in "ocean/temperature"; an empty name means
/// the only variable of the root group that is not a coordinate (named like a dimension).
///
/// The attributes scale_factor, add_offset, _FillValue, missing_value, valid_min, valid_max, valid_range and _Unsigned
/// say which numbers are meant and what is missing (docs/file-formats.md has the rules); LoadOptions::decode = false
/// gives the stored numbers. Unsigned numbers of 16, 32 and 64 bits become the next wider signed integers; bytes with
/// the attribute dtype = "bool", as xarray writes them, bool; enumerations the numbers behind them; records of two
/// floats r and i (or real and imag, or re and im) complex numbers.
/// Each rank reads its own part only; compressed chunks that several ranks need are read by one of them, and their
/// parts exchanged. Collective. Throws on all ranks as load_hdf5 does.
[[nodiscard]] DNDarray load_netcdf(const Source& source, const std::string& variable, const LoadOptions& options = {});

/// The rows of a variable of two dimensions, (samples, features), for an estimator to learn from, as zarr_rows; they
/// are read under hdf5_mutex(). Collective: looks into all files. Throws as load_netcdf, IoError for a file that
/// becomes shorter, ValueError for another number of dimensions.
[[nodiscard]] Rows netcdf_rows(const Source& source, const std::string& variable,
                               const StoredRowsOptions& options = {});

/// How a variable is stored.
struct SaveNetcdfOptions {
  std::vector<std::string> dimension_names = {};      ///< one for each axis; empty: "<variable>_dim_0", ...
  bool unlimited = false;                             ///< the first dimension may grow later
  bool append = false;                                ///< keep what the file holds, and add the variable
  bool replace = false;                               ///< with append: a variable that is there gets these elements
  Shape chunks = {};                                  ///< extents of chunks; empty: netCDF's own
  std::optional<int> compression = std::nullopt;      ///< deflate level, 0 to 9
  std::optional<NetcdfFormat> format = std::nullopt;  ///< nullopt: netcdf4; of a file to extend its own
  Attributes attributes = {};                         ///< of a new variable, as units and a long_name
};

/// Writes `x` as a variable of a netCDF file, in groups that are made as needed. The file appears under its name when
/// it is complete; after an error an older one is as it was. Any layout; a replicated array is written once. Dimensions
/// that the file has already are used where their lengths fit. An axis without elements becomes an unlimited dimension,
/// as netCDF has no others of length 0. bool is stored as xarray does.
/// A variable that is replaced keeps its dimensions and how it is stored: it has to have the array's dtype and extents,
/// or fewer rows where its first dimension may grow. Other variables along that get longer, too, by elements that are
/// missing: NaN in the floats that this function wrote.
/// Attributes are written as they are: with a scale_factor among them the elements are stored numbers, which load
/// decodes.
/// Collective. Each rank writes whole rows, or its block where that lies in runs of 1 MiB or more; shorter ones are put
/// together by an exchange in small windows if `x` is split along another axis than 0. netCDF-4 is written by netCDF's
/// parallel library, compressed and growing variables, and those added to a file, collectively; of the classic formats
/// rank 0 writes the header, and each rank its elements behind it.
/// Throws on all ranks: TypeError for float16, bfloat16 and complex numbers, which netCDF has not, and for dtypes that
/// the format has not, and another than that of the variable to replace; ValueError for bad options, for what the
/// format has not or is too large for it, for a variable that the file has already, or one to replace that has
/// scale_factor or add_offset, and dimensions of other lengths; IoError for a directory that is missing, a full disk, a
/// file to extend that cannot be read.
void save_netcdf(const DNDarray& x, const std::filesystem::path& path, const std::string& variable,
                 const SaveNetcdfOptions& options = {});

}  // namespace heatpp::io

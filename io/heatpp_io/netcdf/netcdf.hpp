#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>
#include <heatpp_io/netcdf/netcdf_format.hpp>

namespace heatpp::io {

/// Whether the library was built with netCDF; if not, the functions below throw NotCompiled.
[[nodiscard]] bool supports_netcdf();

/// Loads a variable of one netCDF file (netCDF-4, or a classic format), or joins the variables with this name of many
/// files along their first dimension, as load_hdf5. Groups are written as in "ocean/temperature". An empty name means
/// the only variable of the root group that is not a coordinate (with the name of a dimension).
///
/// The attributes scale_factor, add_offset, _FillValue, missing_value, valid_min, valid_max, valid_range and _Unsigned
/// decode the numbers and mark missing ones (docs/file-formats.md has the rules); LoadOptions::decode = false gives the
/// stored numbers. Unsigned numbers of 16, 32 and 64 bits become the next wider signed integers; bytes with the
/// attribute dtype = "bool", which xarray writes, become bool; enumerations become the numbers of their names; records
/// of two floats r and i (or real and imag, or re and im) become complex numbers.
/// Each rank reads only its own part; if several ranks need a compressed chunk, one reads it and sends their parts.
/// Collective. Throws on all ranks as load_hdf5.
[[nodiscard]] DNDarray load_netcdf(const Source& source, const std::string& variable, const LoadOptions& options = {});

/// Returns the rows of a variable with two dimensions, (samples, features), from which an estimator learns, as
/// zarr_rows; they are read under hdf5_mutex(). Collective: inspects all files. Throws as load_netcdf, IoError for a
/// file that becomes shorter, ValueError for another number of dimensions.
[[nodiscard]] Rows netcdf_rows(const Source& source, const std::string& variable,
                               const StoredRowsOptions& options = {});

/// How a variable is stored.
struct SaveNetcdfOptions {
  std::vector<std::string> dimension_names = {};      ///< one for each axis; empty: "<variable>_dim_0", ...
  bool unlimited = false;                             ///< the first dimension may grow later
  bool append = false;                                ///< keep the content of the file, and add the variable
  bool replace = false;                               ///< with append: an existing variable gets these elements
  Shape chunks = {};                                  ///< extents of chunks; empty: netCDF chooses
  std::optional<int> compression = std::nullopt;      ///< deflate level, 0 to 9
  bool shuffle = false;                               ///< if compressed: group the bytes of the numbers before
  std::optional<NetcdfFormat> format = std::nullopt;  ///< nullopt: netcdf4, or that of a file to extend
  Attributes attributes = {};                         ///< attributes of a new variable, e.g. units and long_name
  bool uint64 = false;                                ///< store int64 elements as the uint64 numbers with the same bits
};

/// Writes `x` as a variable of a netCDF file, and makes the groups that it needs. The complete file replaces an older
/// one in one step; after an error the older one is unchanged. Any layout; a replicated array is written once.
/// Dimensions of the file are used if their lengths fit. An axis without elements becomes an unlimited dimension,
/// because netCDF has no others of length 0. bool is stored as xarray does.
/// A variable that is replaced keeps its dimensions and its storage. It must have the array's dtype and extents, or
/// fewer rows if its first dimension may grow. Other variables along that dimension then grow, too, by missing
/// elements: NaN for floats that this function wrote.
/// Attributes are written unchanged: if there is a scale_factor, the elements are stored numbers, which load
/// decodes.
/// Collective. Each rank writes whole rows, or its block if that has runs of 1 MiB or more. Exchanges in small windows
/// assemble rows from shorter runs if `x` is split along another axis than 0. netCDF's parallel library writes
/// netCDF-4, with collective calls for compressed and growing variables and those added to a file. In classic formats
/// rank 0 writes the header, and each rank its elements after it.
/// Throws on all ranks: TypeError for float16, bfloat16 and complex numbers, which netCDF does not have, for other
/// dtypes that the format does not have, and for a dtype other than that of the variable to replace; ValueError for bad
/// options, for what the format does not have or is too large for it, for a variable that the file already has, one to
/// replace that has scale_factor or add_offset, and dimensions of other lengths; IoError for a missing directory, a
/// full disk, a file to extend that cannot be read.
void save_netcdf(const DNDarray& x, const std::filesystem::path& path, const std::string& variable,
                 const SaveNetcdfOptions& options = {});

}  // namespace heatpp::io

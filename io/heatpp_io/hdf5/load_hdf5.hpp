#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io {

/// How virtual datasets of HDF5 are read if sources are missing or too small.
enum class MissingSources {
  error,  ///< throw an error on all ranks
  fill,   ///< read as HDF5: fill values, and fewer rows if files of a pattern are missing
};

/// What to read, and the layout, dtype and device of the result.
struct LoadOptions {
  std::string dataset = {};                   ///< for load(): which array of a file; empty: the only one
  std::optional<int> split = std::nullopt;    ///< axis to cut evenly; nullopt: every rank holds all
  Grid grid = {};                             ///< ranks along each axis, or empty; as in ArrayOptions
  std::vector<Slice> slices = {};             ///< parts of the first axes, with positive steps; other axes are whole
  std::optional<Dtype> dtype = std::nullopt;  ///< nullopt: as stored; else converted as `astype`
  Device device = cpu;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
  std::optional<bool> collective = std::nullopt;    ///< force or forbid collective MPI-IO; nullopt: what is faster
  /// HDF5, Zarr, netCDF: apply scale_factor, add_offset, _FillValue, missing_value, valid_min, valid_max, valid_range
  /// and _Unsigned, with NaN for missing values; false: return the stored numbers.
  bool decode = true;
  std::string field = {};  ///< HDF5: field of records, "lon"; "position/x" for records in records
  MissingSources missing_sources = MissingSources::error;  ///< HDF5: virtual datasets
};

/// Loads a dataset of an HDF5 file, or joins the datasets of many files along axis 0, in the given order, or in natural
/// order for a glob pattern (part-2 before part-10). An empty dataset name means the only one in the file's root.
///
/// Stored uint16, uint32 and uint64 become the next wider signed integers, enumerations and bit fields the numbers or
/// bool that they stand for, long doubles float64; byte orders are converted. Attributes decode the numbers as in
/// load_netcdf, except in fields of records. Records of two floats r and i, real and imag, or re and im are complex
/// numbers; for other records `field` names what to read, or the dataset "events/lon" means field "lon" of "events".
/// HDF5's array types become axes after those of the dataset. openPMD's constant components, groups with the attributes
/// value and shape, are arrays of their value; elements of H5MD, groups with step and value, are that value. Virtual
/// datasets are followed, after a check that each source exists and covers its part. In a set of files, those without
/// the dataset contribute no rows, which is logged. Rank 0 looks at a file and tells the others; it also reads data of
/// at most 1 MiB from one file and sends them, so that only rank 0 need see the file. Of larger data each rank reads
/// only its own part, without a temporary copy: from one file all ranks together through MPI-IO if that is as fast,
/// else each rank independently; if several ranks need a compressed chunk, one reads it and sends their parts.
/// `io_report()` tells which way was used. Split none: each rank reads a share, then an all-gather. Collective. Throws
/// on all ranks: IoError for files that are missing, truncated, being written or of another format, for datasets
/// missing in all files, and for datasets without numbers; ValueError for shards that do not fit together and for bad
/// slices; IndexError for a bad split.
[[nodiscard]] DNDarray load_hdf5(const Source& source, const std::string& dataset, const LoadOptions& options = {});

}  // namespace heatpp::io

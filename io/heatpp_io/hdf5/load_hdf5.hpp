#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io {

/// What becomes of HDF5's virtual datasets, of which sources are missing or too small.
enum class MissingSources {
  error,  ///< an error on all ranks
  fill,   ///< what HDF5 gives for them: fill values, and fewer rows where files of a pattern are missing
};

/// What to read, and how to store it.
struct LoadOptions {
  std::string dataset = {};                   ///< for load(): which array of a file; empty: the only one
  std::optional<int> split = std::nullopt;    ///< axis to cut evenly; nullopt: every rank holds all
  std::vector<Slice> slices = {};             ///< what to read of the first axes, with positive steps; the rest whole
  std::optional<Dtype> dtype = std::nullopt;  ///< nullopt: as stored; else converted as `astype` does
  Device device = cpu;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
  std::optional<bool> collective = std::nullopt;    ///< force or forbid collective MPI-IO; nullopt: what is faster
  /// HDF5, Zarr, netCDF: give what scale_factor, add_offset, _FillValue, missing_value, valid_min, valid_max,
  /// valid_range and _Unsigned say is meant, with NaN for what is missing; false: the numbers as they are stored.
  bool decode = true;
  std::string field = {};  ///< HDF5: of records, "lon", or "position/x" of records in records
  MissingSources missing_sources = MissingSources::error;  ///< HDF5: of virtual datasets
};

/// The dataset of one HDF5 file, or the datasets of many put together along axis 0 in the order given (those of a glob
/// pattern in natural order, part-2 before part-10). An empty dataset name means the only one in the file's root.
///
/// Stored uint16, uint32 and uint64 become the next wider signed integers, enumerations and bit fields the numbers or
/// bool they stand for, long doubles float64; byte orders are converted. Attributes say which numbers are meant, as for
/// load_netcdf, except of fields of records. Records of two floats r and i, real and imag, or re and im are complex
/// numbers; of others `field` names what to read, as does "events/lon" for field "lon" of "events". HDF5's array types
/// are axes behind those of the dataset. openPMD's constant components, groups with the attributes value and shape, are
/// arrays of their value, and elements of H5MD, groups with step and value, that value. Virtual datasets are followed;
/// before anything is read, all ranks agree that each source exists and covers its part. Of many files those without
/// the dataset have no rows of it, which the log says. Each rank reads its own part only, without a temporary copy of
/// it: from one file all ranks together by MPI-IO where that is as fast, else each on its own; compressed chunks that
/// several ranks need are read by one of them, and their parts exchanged. `io_report()` tells which. Split none: each
/// rank reads a share, which is all-gathered. Collective. Throws on all ranks: IoError for files that are missing,
/// truncated, being written or of another format, and for datasets that are missing, in all files, or hold no numbers;
/// ValueError for patterns of shards that do not fit together and for bad slices; IndexError for a bad split.
[[nodiscard]] DNDarray load_hdf5(const Source& source, const std::string& dataset, const LoadOptions& options = {});

}  // namespace heatpp::io

#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/compression.hpp>
#include <heatpp_io/netcdf/netcdf_format.hpp>

namespace heatpp::io {

/// How to store an array.
struct SaveOptions {
  std::string dataset = {};  ///< for save(): the name of the array in the file; empty: "data"
  bool append = false;       ///< keep what the file holds, and add the dataset; it is copied aside for that
  bool shards = false;       ///< one file per rank, see save_hdf5
  bool grows = false;        ///< HDF5: in chunks, so that append_rows may extend the first axis
  std::optional<Compression> compression = std::nullopt;  ///< a gzip level, or as in "zstd", "zstd:9", "lz4", "blosc"
  Shape chunks = {};  ///< extents of chunks; empty: only where compressed, fitting the split
  std::optional<bool> collective = std::nullopt;  ///< force or forbid collective MPI-IO; nullopt: what is faster
  int subfiles = 0;  ///< into how many files HDF5 1.14 deals the bytes, see save_hdf5; 0: one holds them all
  std::optional<NetcdfFormat> netcdf_format = std::nullopt;  ///< netCDF: see SaveNetcdfOptions
  std::vector<std::string> dimension_names = {};             ///< HDF5, Zarr, netCDF: one for each axis, or none
  Attributes attributes = {};                                ///< HDF5, Zarr, netCDF: what else to say of the array
  std::optional<int> zarr_format = std::nullopt;             ///< Zarr: 2 or 3, see SaveZarrOptions
  Shape zarr_shards = {};                                    ///< Zarr: extents of shards, see SaveZarrOptions
};

/// Writes `x` as a dataset of an HDF5 file, in groups that are made as needed ("run/1/field"). The file appears under
/// its name when it is complete, in one step, and replaces an older one, whose permissions it gets; after an error
/// nothing of it is left, and an older one is as it was. (It is not flushed to the disk.) Any layout; a replicated
/// array is written once.
///
/// Names of dimensions become the labels of HDF5's dimension scales, attributes those of the dataset: texts in UTF-8,
/// 64-bit numbers, and lists of these.
///
/// Shards: rank r writes its rows to its own file, `path` with "{rank}" replaced by the number of the rank, with
/// leading zeros so that all are equally long; a directory means "part-{rank}.h5" in it. The rows lie in rank order and
/// may be none; arrays split along another axis are resplit first. Left-over shards of more ranks under the same
/// pattern are an error, since a glob would load them too.
///
/// Subfiles: HDF5's subfiling driver deals the bytes of the file to so many others, 32 MiB at a time
/// (H5FD_SUBFILING_STRIPE_SIZE), which one rank of each node writes for all, or H5FD_SUBFILING_IOC_PER_NODE of them.
/// They lie beside the file, named after it and its inode, and come and go with it; what reads arrays from HDF5 opens
/// `path`. The file cannot be extended. Needs HDF5 1.14 with that driver, and MPI_THREAD_MULTIPLE.
///
/// Collective: the file is made by all ranks together. Without compression each rank writes whole rows of its own, or
/// its block where that lies in runs of 1 MiB or more; shorter ones are put together by an exchange in small windows.
/// Compressed chunks are written collectively.
/// Throws on all ranks: IoError for a directory that is missing, a full disk, a file to extend that cannot be read, and
/// where there is something else than a file;
/// ValueError for bad options and a dataset that the file has already; for subfiles NotCompiled where HDF5 has no
/// driver for them, and CommError where MPI allows fewer threads.
void save_hdf5(const DNDarray& x, const std::filesystem::path& path, const std::string& dataset,
               const SaveOptions& options = {});

/// Whether HDF5, as the library was built with it, writes and reads subfiles; without, both throw NotCompiled.
[[nodiscard]] bool supports_subfiling();

}  // namespace heatpp::io

#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/compression.hpp>
#include <heatpp_io/netcdf/netcdf_format.hpp>

namespace heatpp::io {

/// How an array is stored.
struct SaveOptions {
  std::string dataset = {};  ///< for save(): the name of the array in the file; empty: "data"
  bool append = false;       ///< keep the content of the file, and add the dataset; makes a temporary copy of the file
  bool shards = false;       ///< one file per rank, see save_hdf5
  bool grows = false;        ///< HDF5: use chunks, so that append_rows can extend the first axis
  std::optional<Compression> compression = std::nullopt;  ///< a gzip level, or as in "zstd", "zstd:9", "lz4", "blosc"
  Shape chunks = {};  ///< extents of chunks; empty: chunks only if compressed, fitting the split
  std::optional<bool> collective = std::nullopt;  ///< force or forbid collective MPI-IO; nullopt: what is faster
  int subfiles = 0;  ///< number of files over which HDF5 1.14 distributes the bytes, see save_hdf5; 0: none
  std::optional<NetcdfFormat> netcdf_format = std::nullopt;  ///< netCDF: see SaveNetcdfOptions
  std::vector<std::string> dimension_names = {};             ///< HDF5, Zarr, netCDF: one for each axis, or none
  Attributes attributes = {};                                ///< HDF5, Zarr, netCDF: attributes of the array
  std::optional<int> zarr_format = std::nullopt;             ///< Zarr: 2 or 3, see SaveZarrOptions
  Shape zarr_shards = {};                                    ///< Zarr: extents of shards, see SaveZarrOptions
  bool uint64 = false;  ///< store int64 elements as the uint64 numbers with the same bits; not CSV, VTKHDF
};

/// Writes `x` as a dataset of an HDF5 file, and makes the groups that it needs ("run/1/field"). The complete
/// file replaces an older one in one step and gets its permissions; after an error nothing of it is left, and
/// the older one is unchanged. (It is not flushed to the disk.) Any layout; a replicated array is written
/// once.
///
/// Names of dimensions become the labels of HDF5's dimension scales. Attributes become those of the dataset: texts in
/// UTF-8, 64-bit numbers, and lists of these.
///
/// Shards: rank r writes its rows to its own file, `path` with "{rank}" replaced by the number of the rank, with
/// leading zeros so that all have the same length. A directory means "part-{rank}.h5" in it. The rows are in rank
/// order; a shard may have none. Arrays split along another axis are resplit first. It is an error if the pattern
/// matches old shards of more ranks, because a glob would load them, too.
///
/// Subfiles: HDF5's subfiling driver distributes the bytes of the file to `subfiles` others, in stripes of 32 MiB
/// (H5FD_SUBFILING_STRIPE_SIZE). On each node one rank writes for all, or H5FD_SUBFILING_IOC_PER_NODE ranks do. They
/// are next to the file, have its name and inode in their names, and are moved and removed with it; readers open
/// `path`. The file cannot be extended. Needs HDF5 1.14 with that driver, and MPI_THREAD_MULTIPLE.
///
/// Collective: all ranks make the file together. Without compression each rank writes whole rows, or its block if that
/// has runs of 1 MiB or more; exchanges in small windows assemble rows from shorter runs. Compressed chunks are written
/// collectively.
/// Throws on all ranks: IoError for a missing directory, a full disk, a file to extend that cannot be
/// read, and if `path` is not a file; ValueError for bad options and a dataset that the file already
/// has; for subfiles NotCompiled if HDF5 has no driver for them, and CommError if MPI supports fewer
/// threads.
void save_hdf5(const DNDarray& x, const std::filesystem::path& path, const std::string& dataset,
               const SaveOptions& options = {});

/// Whether the HDF5 of this build can write and read subfiles; if not, both throw NotCompiled.
[[nodiscard]] bool supports_subfiling();

}  // namespace heatpp::io

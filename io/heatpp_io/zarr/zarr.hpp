#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/compression.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io {

/// An array of a Zarr store in a directory (format 2 or 3), or the arrays of that name of many stores put together
/// along axis 0. The name is a path in the store, "group/x"; an empty one means the store itself, or the only array in
/// its root.
///
/// Chunks may be stored as they are or compressed by zlib, gzip, zstd, lz4 or blosc, in C or, of format 2, Fortran
/// order, either byte order, under any of the names of the formats; missing ones are full of the fill value. Not read:
/// other codecs (crc32c, transpose, sharding), filters, and stores in zip files or in object storage; the errors name
/// what it is. dtypes as for load_npy. Each rank reads the chunks that its block touches, and of these
/// no more than it needs; where several ranks need the same chunks, one of them reads them, and their parts are
/// exchanged. Collective. Throws on all ranks as load_npy does.
[[nodiscard]] DNDarray load_zarr(const Source& source, const std::string& name = {}, const LoadOptions& options = {});

/// The rows of a matrix (samples, features) in Zarr stores as those that load_zarr reads, for an estimator to learn
/// from, however large: cut evenly among the ranks, each of which reads its own on every pass, about 4 MiB or a row of
/// chunks of at most 64 MiB at a time, the next while the last are worked on. Collective: looks into all stores. Throws
/// as load_zarr, ValueError for another number of axes, TypeError for complex numbers.
[[nodiscard]] Rows zarr_rows(const Source& source, const std::string& name = {}, const StoredRowsOptions& options = {});

/// How an array is stored.
struct SaveZarrOptions {
  Shape chunks = {};                                      ///< their extents; empty: about 1 MiB, fitting the split
  std::optional<Compression> compression = std::nullopt;  ///< a zlib level, or as in "zstd", "zstd:9", "lz4", "blosc"
  bool overwrite = true;                                  ///< replace a store that is there, or throw IoError
  std::vector<std::string> dimension_names = {};          ///< one for each axis, or none; as xarray writes them
  Attributes attributes = {};                             ///< what else to say of the array
};

/// Writes `x` as a Zarr array (format 2) in the directory `path`. It appears under its name when it is complete, and
/// replaces an older one by two renames; after an error the older one is as it was. A directory that is no Zarr store
/// is never replaced. Any layout; a replicated array is written once. bfloat16 as in save_npy. Collective: each rank
/// writes whole chunks. What is on the wrong side of a chunk's edge changes ranks first, for which the array is recut
/// along its split axis unless the chunks fit; where that axis has too few chunks for all ranks, rows are put together
/// by exchanges in small windows. Throws on all ranks: ValueError for bad options, IoError for a directory that is
/// missing or no store, and a full disk.
void save_zarr(const DNDarray& x, const std::filesystem::path& path, const SaveZarrOptions& options = {});

}  // namespace heatpp::io

#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/compression.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io {

/// An array of a Zarr store (format 2 or 3) in a directory or a zip file, or the arrays of that name of many stores put
/// together along axis 0. The name is a path in the store, "group/x"; an empty one means the store itself, the only
/// array in its root, or else the only one in it. Paths may lead into a store: "x.zarr/group".
///
/// Chunks may lie in shards; codecs may be transpose, zlib, gzip, zstd, lz4, blosc, bz2, lzma, the checksums crc32c,
/// crc32 and adler32, and the filters delta, fixedscaleoffset, shuffle, quantize, bitround and astype, under any of the
/// names of the formats and in any order that they allow; the grid of chunks regular or rectilinear. Missing chunks are
/// full of the fill value. Not read: other codecs, and stores in object storage; the errors name what it is. dtypes as
/// for load_npy; attributes say which numbers are meant, as for load_netcdf. Each rank reads the chunks that its block
/// touches, of shards no others, and of uncompressed ones no more than it needs; where several ranks need the same
/// chunks, one of them reads them, and their parts are exchanged. Sizes are checked against those of the files before
/// memory is taken: beside the result, that of a chunk and of a shard's table of chunks. Collective. Throws on all
/// ranks as load_npy does.
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
  std::string dataset = {};                               ///< its name, "group/x"; empty: "data"; "/": the whole store
  bool append = false;                                    ///< keep what the store holds, and add the array
  std::optional<int> format = std::nullopt;  ///< 2 or 3; nullopt: that of a store to append to, else 2, 3 with shards
  Shape shards = {};                         ///< of format 3: the extents of shards, multiples of chunks; empty: none
};

/// Writes `x` as an array of a Zarr store in the directory `path`: a group with consolidated metadata, as xarray opens
/// it, or with dataset "/" the array alone. The store appears under its name when it is complete, and replaces an older
/// one by two renames; after an error the older one is as it was. A directory that is no Zarr store is never replaced.
/// With `append`, and by a path into a store ("x.zarr/group/t", which replaces that array), other arrays of it stay.
/// Axes without a name get one:
/// "<dataset>_dim_0". Any layout; a replicated array is written once. bfloat16 as in save_npy, in format 3 under its
/// name. Collective: each rank writes whole chunks, or whole shards. What is on the wrong side of a chunk's edge
/// changes ranks first, for which the array is recut along its split axis unless the chunks fit; where that axis has
/// too few chunks for all ranks, rows are put together by exchanges in small windows. Throws on all ranks: ValueError
/// for bad options and an array that is there already, IoError for a directory that is missing or no store, and a full
/// disk.
void save_zarr(const DNDarray& x, const std::filesystem::path& path, const SaveZarrOptions& options = {});

}  // namespace heatpp::io

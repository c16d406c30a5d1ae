#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/compression.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io {

/// Loads an array of a Zarr store (format 2 or 3) in a directory or a zip file, or joins the arrays with this name of
/// many stores along axis 0. The name is a path in the store, "group/x"; an empty name means the store itself, the only
/// array in its root, or else the only one in it. Paths may lead into a store: "x.zarr/group".
///
/// Chunks may be in shards. Codecs may be transpose, zlib, gzip, zstd, lz4, blosc, bz2, lzma, the checksums crc32c,
/// crc32 and adler32, and the filters delta, fixedscaleoffset, shuffle, quantize, bitround and astype, with all names
/// that the formats have, and in any order that they allow. The grid of chunks may be regular or rectilinear. Missing
/// chunks have the fill value. Other codecs and stores in object storage cannot be read; the errors name them. Dtypes
/// are as in load_npy; attributes decode the numbers as in load_netcdf. Each rank reads the chunks that its block
/// touches, also in shards, and only the needed bytes of uncompressed ones. If several ranks need the same chunks,
/// one of them reads them and sends their parts. Sizes are compared with those of the files before memory is
/// allocated: besides the result, that of a chunk and of a shard's table. Collective. Throws on all ranks as
/// load_npy.
[[nodiscard]] DNDarray load_zarr(const Source& source, const std::string& name = {}, const LoadOptions& options = {});

/// Returns the rows of a matrix (samples, features) in Zarr stores, as load_zarr reads them, from which an estimator
/// learns, of any size. They are cut evenly over the ranks. In every pass each rank reads its own, about 4 MiB or a row
/// of chunks of at most 64 MiB at a time, and reads ahead. Collective: inspects all stores. Throws as load_zarr,
/// ValueError for another number of axes, TypeError for complex numbers.
[[nodiscard]] Rows zarr_rows(const Source& source, const std::string& name = {}, const StoredRowsOptions& options = {});

/// How an array is stored.
struct SaveZarrOptions {
  Shape chunks = {};                                      ///< extents of chunks; empty: about 1 MiB, fitting the split
  std::optional<Compression> compression = std::nullopt;  ///< a zlib level, or as in "zstd", "zstd:9", "lz4", "blosc"
  bool overwrite = true;                                  ///< replace an existing store; false: throw IoError
  std::vector<std::string> dimension_names = {};          ///< one for each axis, or none; as xarray writes them
  Attributes attributes = {};                             ///< attributes of the array
  std::string dataset = {};                               ///< its name, "group/x"; empty: "data"; "/": the whole store
  bool append = false;                                    ///< keep the content of the store, and add the array
  std::optional<int> format = std::nullopt;  ///< 2 or 3; nullopt: that of a store to append to, else 2, 3 with shards
  Shape shards = {};                         ///< format 3: the extents of shards, multiples of chunks; empty: none
  bool uint64 = false;                       ///< store int64 elements as the uint64 numbers with the same bits
};

/// Writes `x` as an array of a Zarr store in the directory `path`: a group with consolidated metadata,
/// which xarray opens, or with dataset "/" only the array. The complete store replaces an older one by two
/// renames; after an error the older one is unchanged. A directory that is not a Zarr store is never
/// replaced. With `append`, and with a path into a store ("x.zarr/group/t", which replaces that array),
/// the other arrays stay. Axes without a name get one: "<dataset>_dim_0". Any layout; a replicated array
/// is written once. bfloat16 is stored as in save_npy, in format 3 under its name. Collective: each rank
/// writes whole chunks, or whole shards. Elements of another rank's chunks move to that rank first; the
/// array is recut along its split axis for this, unless the chunks fit. If that axis has too few chunks
/// for all ranks, exchanges in small windows assemble rows. Throws on all ranks: ValueError for bad
/// options and an array that already exists, IoError for a missing directory, one that is not a store, and
/// a full disk.
void save_zarr(const DNDarray& x, const std::filesystem::path& path, const SaveZarrOptions& options = {});

}  // namespace heatpp::io

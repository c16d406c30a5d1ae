#pragma once

#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/stream/stored_array.hpp>
#include <functional>

namespace heatpp::io {

/// Options of convert.
struct ConvertOptions {
  /// How the array is stored, without `shards`. If no chunks, compression, names of dimensions or attributes are given,
  /// the old ones are used if the format has room for them; names and attributes for which it has no room are logged. A
  /// compression that the format or the library lacks becomes gzip. HDF5 and netCDF also keep the shuffle.
  SaveOptions save = {};
  bool compress_as_before = true;                       ///< false: without save.compression, write uncompressed
  std::int64_t files = 1;                               ///< number of files, with equal numbers of rows, for any ranks
  std::int64_t piece_bytes = std::int64_t{256} << 20;   ///< memory of a piece, summed over the ranks
  std::function<void(std::int64_t rows)> written = {};  ///< called on every rank after each piece
};
/// Writes an array from files to a file, in the format that the extension names, piece by piece. It needs the memory of
/// a piece, except for .npz and from CSV, which are held as a whole. HDF5, Zarr and netCDF get the stored numbers and
/// all attributes (StoredArray::stored), so that packing and missing values are kept; other formats get the decoded
/// numbers. uint64 stays uint64, except in CSV, VTKHDF and netCDF's two oldest formats. For several files, "{rank}" in
/// `path` is replaced by the number of the file, as in the shards of save_hdf5; `load` of a pattern joins them. Returns
/// the names of the written files. Collective. Throws on all ranks as load and save; ValueError for less than one file,
/// for several without "{rank}" or of an array without axes, and for old files with the same pattern.
std::vector<std::string> convert(const StoredArray& x, const std::string& path, const ConvertOptions& options = {});

}  // namespace heatpp::io

#pragma once

#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/stream/stored_array.hpp>
#include <functional>

namespace heatpp::io {

/// Options of convert.
struct ConvertOptions {
  /// How it is stored; without `shards`. Chunks, names of dimensions and attributes are those that it had, where none
  /// are given and the format has room for them; what it has none for is told to the log.
  SaveOptions save = {};
  std::int64_t files = 1;                               ///< into which the rows are cut evenly, whatever the ranks
  std::int64_t piece_bytes = std::int64_t{256} << 20;   ///< of all ranks, that are in memory at a time
  std::function<void(std::int64_t rows)> written = {};  ///< called on every rank after each piece
};
/// Writes an array that lies in files to a file, in the format that the extension names, piece by piece: in the memory
/// of a piece, except to .npz and from CSV, which are held as a whole. HDF5, Zarr and netCDF get the stored numbers and
/// all attributes (StoredArray::stored), so that packing and missing values stay what they are; other formats get the
/// decoded numbers. Into several files: `path` with "{rank}"
/// replaced by the number of the file, as save_hdf5 does it for shards; `load` of a pattern puts them together. Returns
/// what it wrote. Collective. Throws on all ranks as load and save do; ValueError for less than one file, several
/// without "{rank}" or of an array without axes, and left-over files of the same pattern.
std::vector<std::string> convert(const StoredArray& x, const std::string& path, const ConvertOptions& options = {});

}  // namespace heatpp::io

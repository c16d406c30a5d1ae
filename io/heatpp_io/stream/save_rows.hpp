#pragma once

#include <filesystem>
#include <functional>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io {

/// An array that is made while it is saved, some rows at a time, because it fits no memory.
struct RowsToSave {
  Shape shape;
  Dtype dtype = float32;
  std::int64_t piece_rows = 1;  ///< at most so many at a time, where a chunk of the file has no more
  std::int64_t unit_rows = 1;   ///< pieces are multiples of it where that fits: a chunk of what they are read from
  /// Gives the rows first .. first + count, on `comm`, in any layout. Called in order by all ranks together.
  std::function<DNDarray(std::int64_t first, std::int64_t count)> rows = {};
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// Writes such an array in the format that the extension names, as save would write it whole: .h5, .hdf5, .npy, .csv,
/// .nc, .nc4, .safetensors, .zarr. Memory is that of a piece. The file appears when it is complete; after an error,
/// those of `rows` too, an older one is as it was. Collective. Throws on all ranks as save does, ValueError for .npz,
/// which is written in one, for shards, arrays without axes and rows of another shape or dtype than they are said to
/// have.
void save_rows(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::io

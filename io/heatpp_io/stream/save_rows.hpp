#pragma once

#include <filesystem>
#include <functional>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io {

/// An array whose rows are made while it is saved, because it does not fit in memory.
struct RowsToSave {
  Shape shape;
  Dtype dtype = float32;
  std::int64_t piece_rows = 1;  ///< limit for one piece, unless a chunk of the file has more rows
  std::int64_t unit_rows = 1;   ///< rows of a chunk of their source; pieces are multiples of it if that fits
  /// Returns the rows first ... first + count - 1, on `comm`, in any layout. All ranks call it together, in order.
  std::function<DNDarray(std::int64_t first, std::int64_t count)> rows = {};
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// Writes such an array in the format that the extension names, as save would write it: .h5, .hdf5, .npy, .csv, .nc,
/// .nc4, .safetensors, .zarr. It needs the memory of a piece. The complete file replaces an older one; after an
/// error, also one in `rows`, the older one is unchanged. Collective. Throws on all ranks as save, ValueError for
/// .npz, which is written as a whole, for shards, arrays without axes, and rows with another shape or dtype than
/// stated.
void save_rows(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::io

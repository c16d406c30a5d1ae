#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

namespace heatpp::io::detail {

/// How the chunks of an array become files.
struct ChunkFiles {
  const char* op;
  std::filesystem::path path;  ///< the array's directory
  std::string shown;           ///< name of the store in errors
  ZarrArray array;
  bool replace = false;  ///< replace existing files in one step, since others may read the store
};

/// Writes an array, or the rows from `begin` on of a longer one; `begin` is the beginning of a chunk. Collective: each
/// rank writes whole chunks, on a grid those of its box. Elements of chunks of other ranks move to these first. If the
/// split axis has too few chunks for all ranks, exchanges in small windows assemble rows. Throws IoError on all ranks.
void write_chunks(const ChunkFiles& files, const DNDarray& x, std::int64_t begin = 0);

}  // namespace heatpp::io::detail

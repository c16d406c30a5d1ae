#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

namespace heatpp::io::detail {

/// How the chunks of an array become files.
struct ChunkFiles {
  const char* op;
  std::filesystem::path path;  ///< the array's directory
  std::string shown;           ///< what errors call the store
  ZarrArray array;
  bool replace = false;  ///< a file that is there is replaced in one step, for those who read the store meanwhile
};

/// Writes an array, or the rows from `begin` on of a longer one, where a chunk begins. Collective: each rank writes
/// whole chunks; what is on the wrong side of a chunk's edge changes ranks first, or all is put together to rows in
/// small windows where the split axis has too few chunks for all ranks. Throws IoError on all ranks.
void write_chunks(const ChunkFiles& files, const DNDarray& x, std::int64_t begin = 0);

}  // namespace heatpp::io::detail

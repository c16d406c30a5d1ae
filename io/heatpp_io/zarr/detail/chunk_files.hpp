#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/compression.hpp>

namespace heatpp::io::detail {

/// How the chunks of an array become files.
struct ChunkFiles {
  const char* op;
  std::filesystem::path path;
  std::string shown;  ///< what errors call the store
  const Shape& chunks;
  std::optional<Compression> compression;
  char separator = '.';
  bool replace = false;  ///< a file that is there is replaced in one step, for those who read the store meanwhile
};

/// Writes an array, or the rows from `begin` on of a longer one, where a chunk begins. Collective: each rank writes
/// whole chunks; rows on the wrong side of a chunk's edge change ranks first. Throws IoError on all ranks.
void write_chunks(const ChunkFiles& files, const DNDarray& x, std::int64_t begin = 0);

}  // namespace heatpp::io::detail

#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/zarr/detail/chunk_codecs.hpp>
#include <nlohmann/json_fwd.hpp>

namespace heatpp::io::detail {

/// The content of an array's .zarray or zarr.json.
struct ZarrArray {
  StoredType type;
  Shape shape;
  ChunkGrid grid;
  Shape chunks;  ///< the extents of a chunk, of the largest if they differ
  ChunkCodecs codecs;
  char separator = '.';
  bool prefixed = false;                     ///< whether names of chunks begin with "c", as in format 3
  double fill_real = 0, fill_imaginary = 0;  ///< for floats and complex numbers
  std::int64_t fill_whole = 0;               ///< for other numbers
};

/// Parses `text`, the metadata in `path`, of format 2 or 3. Throws IoError naming `op` for damaged or unsupported
/// metadata.
[[nodiscard]] ZarrArray parse_zarray(const std::string& text, const std::string& path, const char* op);
/// Parses JSON that may contain NaN and Infinity, as Python writes them, and other encodings than UTF-8. Values nested
/// deeper than a hundred levels are left out. Throws IoError naming `op` and `path` if it is not an object.
[[nodiscard]] nlohmann::json parse_json(const std::string& text, const std::string& path, const char* op);
/// Whether this is the zarr.json of an array, not of a group.
[[nodiscard]] bool is_zarr_array(const std::string& text);

/// Returns the file of the chunk at a place in the grid: "3.1" or "c/3/1".
[[nodiscard]] std::string chunk_name(const Shape& place, char separator, bool prefixed = false);

}  // namespace heatpp::io::detail

#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/shape.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>

#include <string>

namespace heatpp::io::detail {

/// What makes other bytes of the bytes of a chunk.
struct BytesCodec {
  enum class Kind { compressed, shuffled, crc32c, crc32, adler32 };
  Kind kind = Kind::compressed;
  std::string name = {};
  const BlockCodec* blocks = nullptr;  ///< of compressed
  std::int64_t most = 1;               ///< of compressed: bytes that a stored byte can stand for
  int level = 0;
  std::int64_t itemsize = 1;  ///< of the elements that are shuffled
  bool sum_first = false;     ///< whether a checksum lies before the bytes, not behind them
};

/// What errors name.
struct ChunkName {
  const std::string& path;
  const char* op;
};

/// Memory for a chunk. Throws MemoryError.
[[nodiscard]] at::Tensor chunk_memory(const Shape& extents, c10::ScalarType type, const ChunkName& chunk);

/// How many bytes `bytes` become; nothing if that depends on their values.
[[nodiscard]] std::optional<std::int64_t> stored_bytes(const std::vector<BytesCodec>& codecs, std::int64_t bytes);

/// Throws IoError if the codecs cannot give so many bytes of those that are stored.
void check_length(std::int64_t stored, const std::vector<BytesCodec>& codecs, std::int64_t bytes,
                  const ChunkName& chunk);

/// Undoes the codecs, from the last to the first. `bytes` is what must come out, or the most if not `exact`. Lengths
/// are checked before memory is taken. If `to` is defined, the first codec must be a compressor, which writes there.
/// Throws IoError for bytes that are damaged.
struct WantedBytes {
  std::int64_t bytes;
  bool exact = true;
};
[[nodiscard]] at::Tensor decoded(ByteReader& stored, const std::vector<BytesCodec>& codecs, const WantedBytes& wanted,
                                 const ChunkName& chunk, const at::Tensor& to = {});

/// Applies the codecs. Throws ValueError for blocks that a codec has no room for.
[[nodiscard]] std::vector<std::byte> encoded(Block bytes, const std::vector<BytesCodec>& codecs,
                                             const ChunkName& chunk);

}  // namespace heatpp::io::detail

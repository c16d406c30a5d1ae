#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/shape.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>

#include <string>

namespace heatpp::io::detail {

/// A step that maps the bytes of a chunk to other bytes.
struct BytesCodec {
  enum class Kind { compressed, shuffled, crc32c, crc32, adler32 };
  Kind kind = Kind::compressed;
  std::string name = {};
  const BlockCodec* blocks = nullptr;  ///< compressed: the codec
  std::int64_t most = 1;               ///< compressed: bytes that a stored byte can stand for
  int level = 0;
  std::int64_t itemsize = 1;  ///< size of the elements that are shuffled
  bool sum_first = false;     ///< whether a checksum is before the bytes, not after them
};

/// The names in errors.
struct ChunkName {
  const std::string& path;
  const char* op;
};

/// Allocates memory for a chunk. Throws MemoryError.
[[nodiscard]] at::Tensor chunk_memory(const Shape& extents, c10::ScalarType type, const ChunkName& chunk);

/// Returns the size after encoding `bytes` bytes; nothing if it depends on their values.
[[nodiscard]] std::optional<std::int64_t> stored_bytes(const std::vector<BytesCodec>& codecs, std::int64_t bytes);

/// Throws IoError if the codecs cannot produce `bytes` bytes from the stored ones.
void check_length(std::int64_t stored, const std::vector<BytesCodec>& codecs, std::int64_t bytes,
                  const ChunkName& chunk);

/// Undoes the codecs, from the last to the first. `bytes` is the size of the result, or its limit if not `exact`. Sizes
/// are checked before memory is allocated. If `to` is defined, the first codec must be a compressor; it writes there.
/// Throws IoError for damaged bytes.
struct WantedBytes {
  std::int64_t bytes;
  bool exact = true;
};
[[nodiscard]] at::Tensor decoded(ByteReader& stored, const std::vector<BytesCodec>& codecs, const WantedBytes& wanted,
                                 const ChunkName& chunk, const at::Tensor& to = {});

/// Applies the codecs. Throws ValueError for blocks that are too large for a codec.
[[nodiscard]] std::vector<std::byte> encoded(Block bytes, const std::vector<BytesCodec>& codecs,
                                             const ChunkName& chunk);

}  // namespace heatpp::io::detail

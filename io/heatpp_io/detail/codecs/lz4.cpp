#include <heatpp_io/detail/codecs/codecs.hpp>

#include <lz4.h>

#include <algorithm>
#include <climits>

namespace heatpp::io::detail {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t largest = LZ4_MAX_INPUT_SIZE;

std::uint64_t big_endian(Block from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint64_t>(from[i]);
  return value;
}

void append_big_endian(Bytes& to, std::uint64_t value, std::size_t bytes) {
  while (bytes-- > 0) to.push_back(static_cast<std::byte>(value >> 8 * bytes));
}

bool decompress_lz4(Block stored, std::span<std::byte> out) {
  if (stored.size() > INT_MAX || out.size() > INT_MAX) return false;
  return LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(out.data()),
                             static_cast<int>(stored.size()), static_cast<int>(out.size())) == std::ssize(out);
}

/// Returns `header`, followed by the compressed block.
std::optional<Bytes> compressed(Bytes header, Block block) {
  if (block.size() > largest) return std::nullopt;
  const auto bytes = static_cast<int>(block.size()), room = LZ4_compressBound(bytes);
  const auto begin = header.size();
  header.resize(begin + static_cast<std::size_t>(room));
  const auto size = LZ4_compress_default(reinterpret_cast<const char*>(block.data()),
                                         reinterpret_cast<char*>(header.data() + begin), bytes, room);
  if (size <= 0) return std::nullopt;
  header.resize(begin + static_cast<std::size_t>(size));
  return header;
}

// numcodecs: the size, lowest byte first, and the block.

std::optional<std::size_t> size_before(Block stored) {
  if (stored.size() < 4) return std::nullopt;
  Bytes turned(stored.begin(), stored.begin() + 4);
  std::ranges::reverse(turned);
  return big_endian(turned, 4);
}

bool decompress_behind_size(Block stored, std::span<std::byte> out) {
  return size_before(stored) == out.size() && decompress_lz4(stored.subspan(4), out);
}

std::optional<Bytes> compress_behind_size(Block block, int, int) {
  Bytes header;
  append_big_endian(header, block.size(), 4);
  std::ranges::reverse(header);
  return compressed(std::move(header), block);
}

// HDF5's filter 32004: the total size in 8 bytes and the block size in 4. Each block follows its stored size in 4
// bytes; a block that would not become smaller is stored as it is.

std::optional<std::size_t> size_of_all(Block stored) {
  if (stored.size() < 12) return std::nullopt;
  return big_endian(stored, 8);
}

bool decompress_blocks(Block stored, std::span<std::byte> out) {
  if (size_of_all(stored) != out.size()) return false;
  const auto block = std::max<std::size_t>(1, std::min(out.size(), big_endian(stored.subspan(8), 4)));
  stored = stored.subspan(12);
  while (!out.empty()) {
    const auto part = out.first(std::min(block, out.size()));
    if (stored.size() < 4) return false;
    const auto size = big_endian(stored, 4);
    if (size > stored.size() - 4) return false;
    const auto from = stored.subspan(4, size);
    if (size == part.size()) std::ranges::copy(from, part.begin());
    else if (!decompress_lz4(from, part)) return false;
    stored = stored.subspan(4 + size);
    out = out.subspan(part.size());
  }
  return stored.empty();
}

std::optional<Bytes> compress_as_one_block(Block block, int, int) {
  const auto packed = compressed({}, block);
  if (!packed) return std::nullopt;
  const auto smaller = packed->size() < block.size() ? Block(*packed) : block;
  Bytes all;
  all.reserve(16 + smaller.size());
  append_big_endian(all, block.size(), 8);
  append_big_endian(all, block.size(), 4);
  append_big_endian(all, smaller.size(), 4);
  all.insert(all.end(), smaller.begin(), smaller.end());
  return all;
}

}  // namespace

const BlockCodec lz4_blocks{decompress_behind_size, compress_behind_size, size_before};
const BlockCodec lz4_blocks_of_hdf5{decompress_blocks, compress_as_one_block, size_of_all};

}  // namespace heatpp::io::detail

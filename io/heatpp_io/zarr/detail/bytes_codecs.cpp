#include <heatpp_io/zarr/detail/bytes_codecs.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp_io/detail/codecs/crc32c.hpp>
#include <heatpp_io/numpy/detail/little_endian.hpp>

#include <zlib.h>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
using Kind = BytesCodec::Kind;

constexpr std::int64_t sum_bytes = 4;

/// Returns an upper bound of a compressed chunk's size: a compressor adds less than 1/64 and a header.
std::int64_t most_stored(std::int64_t bytes) {
  constexpr std::int64_t header = 65536;
  return bytes > std::numeric_limits<std::int64_t>::max() / 2 ? bytes : bytes + bytes / 64 + header;
}

Block block_of(const at::Tensor& bytes) {
  return {static_cast<const std::byte*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel())};
}
std::span<std::byte> span_of(const at::Tensor& bytes) {
  return {static_cast<std::byte*>(bytes.data_ptr()), static_cast<std::size_t>(bytes.numel())};
}

[[noreturn]] void raise_damaged(const ChunkName& chunk, std::int64_t stored, const BytesCodec& codec,
                                const std::string& expected) {
  raise<IoError>(chunk.op, "got chunk \"{}\", which is damaged: {} bytes of {}; expected {}", chunk.path, stored,
                 codec.name, expected);
}

std::uint32_t sum_of(Kind kind, Block bytes) {
  if (kind == Kind::crc32c) return crc32c(bytes);
  const auto* first = reinterpret_cast<const Bytef*>(bytes.data());
  const auto sum =
      kind == Kind::crc32 ? crc32_z(0, first, bytes.size()) : adler32_z(adler32_z(0, nullptr, 0), first, bytes.size());
  return static_cast<std::uint32_t>(sum);
}

at::Tensor checked(const at::Tensor& stored, const BytesCodec& codec, const ChunkName& chunk) {
  const auto bytes = stored.numel() - sum_bytes;
  if (bytes < 0) raise_damaged(chunk, stored.numel(), codec, "4 or more");
  auto content = stored.narrow(0, codec.sum_first ? sum_bytes : 0, bytes);
  const auto sum = block_of(stored.narrow(0, codec.sum_first ? 0 : bytes, sum_bytes));
  const auto said = little_endian({reinterpret_cast<const char*>(sum.data()), sum.size()}, 0, sum_bytes);
  if (sum_of(codec.kind, block_of(content)) != said)
    raise_damaged(chunk, stored.numel(), codec, "bytes that have the checksum");
  return content;
}

/// The bytes of elements are grouped in a shuffled block: all first bytes, all second bytes, ...
at::Tensor shuffled(const at::Tensor& bytes, std::int64_t itemsize, bool back) {
  const auto count = bytes.numel() / itemsize;
  auto to = at::empty_like(bytes);
  const auto elements = bytes.narrow(0, 0, count * itemsize);
  const auto table = back ? elements.view({itemsize, count}) : elements.view({count, itemsize});
  to.narrow(0, 0, count * itemsize).view({table.size(1), table.size(0)}).copy_(table.t());
  to.narrow(0, count * itemsize, bytes.numel() % itemsize)
      .copy_(bytes.narrow(0, count * itemsize, bytes.numel() % itemsize));
  return to;
}

/// Returns the decompressed size that a block states, if its codec requires that.
std::optional<std::int64_t> said_size(const BytesCodec& codec, Block stored) {
  if (codec.blocks->size) {
    const auto size = codec.blocks->size(stored);
    return size && *size <= std::size_t{INT64_MAX} ? std::optional(static_cast<std::int64_t>(*size)) : std::nullopt;
  }
  if (stored.size() < 18 || stored[0] != std::byte{0x1f}) return std::nullopt;  // not gzip, which ends with the size
  const auto end = stored.last(4);
  return static_cast<std::int64_t>(little_endian({reinterpret_cast<const char*>(end.data()), 4}, 0, 4));
}

at::Tensor decompressed(const at::Tensor& stored, const BytesCodec& codec, std::optional<std::int64_t> bytes,
                        std::int64_t most, const ChunkName& chunk, const at::Tensor& to) {
  if (!bytes) {
    bytes = said_size(codec, block_of(stored));
    if (!bytes)
      raise<IoError>(chunk.op,
                     "got chunk \"{}\" with bytes of {} that do not say how many they give, of a codec that may give "
                     "any number; expected one compressor for a chunk",
                     chunk.path, codec.name);
  }
  const auto expected = heatpp::detail::formatted("such that give {}", *bytes);
  if (*bytes > most || *bytes / codec.most > stored.numel()) raise_damaged(chunk, stored.numel(), codec, expected);
  auto out = to.defined() ? to : chunk_memory({*bytes}, at::kByte, chunk);
  if (!codec.blocks->decompress(block_of(stored), span_of(out))) raise_damaged(chunk, stored.numel(), codec, expected);
  return out;
}

/// Returns the sizes after each of the codecs, as far as they are known.
std::vector<std::optional<std::int64_t>> sizes_of(const std::vector<BytesCodec>& codecs,
                                                  std::optional<std::int64_t> bytes) {
  std::vector<std::optional<std::int64_t>> sizes{bytes};
  for (const auto& codec : codecs) {
    if (codec.kind == Kind::compressed) bytes.reset();
    else if (bytes && codec.kind != Kind::shuffled) *bytes += sum_bytes;
    sizes.push_back(bytes);
  }
  return sizes;
}

std::vector<std::byte> with_sum(Block bytes, const BytesCodec& codec) {
  std::string sum;
  append_little_endian(sum, sum_of(codec.kind, bytes), sum_bytes);
  std::vector<std::byte> all(bytes.begin(), bytes.end());
  const auto* first = reinterpret_cast<const std::byte*>(sum.data());
  all.insert(codec.sum_first ? all.begin() : all.end(), first, first + sum.size());
  return all;
}

std::vector<std::byte> applied(Block bytes, const BytesCodec& codec, const ChunkName& chunk) {
  if (codec.kind == Kind::shuffled) {
    const auto whole = at::from_blob(const_cast<std::byte*>(bytes.data()), {std::ssize(bytes)}, at::kByte);
    const auto turned = shuffled(whole, codec.itemsize, /*back=*/false);
    const auto block = block_of(turned);
    return {block.begin(), block.end()};
  }
  if (codec.kind != Kind::compressed) return with_sum(bytes, codec);
  auto packed = codec.blocks->compress(bytes, codec.level, static_cast<int>(codec.itemsize));
  if (!packed)
    raise<ValueError>(chunk.op,
                      "got a chunk of {} bytes for \"{}\", which {} does not compress; expected smaller chunks",
                      bytes.size(), chunk.path, codec.name);
  return std::move(*packed);
}

}  // namespace

at::Tensor chunk_memory(const Shape& extents, c10::ScalarType type, const ChunkName& chunk) {
  return heatpp::detail::block_or_error(chunk.op, extents, [&] { return at::empty(extents, type); });
}

void check_length(std::int64_t stored, const std::vector<BytesCodec>& codecs, std::int64_t bytes,
                  const ChunkName& chunk) {
  const auto expected = stored_bytes(codecs, bytes);
  auto least = expected.value_or(bytes);
  for (const auto& codec : codecs) least /= expected ? 1 : codec.most;
  if (stored < least || (expected && stored != *expected))
    raise<IoError>(chunk.op, "got chunk \"{}\" of {} bytes; expected {}{}", chunk.path, stored, least,
                   expected ? "" : " or more");
}

std::optional<std::int64_t> stored_bytes(const std::vector<BytesCodec>& codecs, std::int64_t bytes) {
  return sizes_of(codecs, bytes).back();
}

at::Tensor decoded(ByteReader& stored, const std::vector<BytesCodec>& codecs, const WantedBytes& wanted,
                   const ChunkName& chunk, const at::Tensor& to) {
  const auto sizes = sizes_of(codecs, wanted.exact ? std::optional(wanted.bytes) : std::nullopt);
  const auto most = most_stored(most_stored(wanted.bytes));  // after two compressors
  if (sizes.back().value_or(stored.size()) != stored.size() || stored.size() > most)
    raise<IoError>(
        chunk.op, "got chunk \"{}\" of {} bytes; expected {}", chunk.path, stored.size(),
        sizes.back() ? std::to_string(*sizes.back()) : heatpp::detail::formatted("at most {}, compressed", most));
  auto bytes = chunk_memory({stored.size()}, at::kByte, chunk);
  stored.read(0, stored.size(), bytes.data_ptr());
  for (auto i = codecs.size(); i-- > 0;) {
    const auto& codec = codecs[i];
    if (codec.kind == Kind::compressed)
      bytes = decompressed(bytes, codec, sizes[i], most, chunk, i == 0 ? to : at::Tensor());
    else if (codec.kind == Kind::shuffled) bytes = shuffled(bytes, codec.itemsize, /*back=*/true);
    else bytes = checked(bytes, codec, chunk);
    if (sizes[i].value_or(bytes.numel()) != bytes.numel())
      raise_damaged(chunk, bytes.numel(), codec, heatpp::detail::formatted("such that give {}", *sizes[i]));
  }
  return bytes;
}

std::vector<std::byte> encoded(Block bytes, const std::vector<BytesCodec>& codecs, const ChunkName& chunk) {
  std::vector<std::byte> last;
  for (const auto& codec : codecs) {
    last = applied(bytes, codec, chunk);
    bytes = last;
  }
  return last;
}

}  // namespace heatpp::io::detail

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/flat_array.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/zarr/detail/chunk_codecs.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

constexpr std::int64_t entry_bytes = 16;  // of a shard's table: the place of a chunk, and its length
constexpr std::int64_t missing = -1;      // both numbers of a missing chunk

/// Reads the table as whole numbers (chunks along each axis ..., 2). Checks its length before memory is allocated.
at::Tensor table_of(const StoredChunk& shard, const Sharding& sharding) {
  auto shape = shard.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] % sharding.chunks[i] != 0)
      raise<IoError>(shard.name.op, "got shard \"{}\" of shape {}; expected multiples of its chunks, {}",
                     shard.name.path, heatpp::to_string(shape), heatpp::to_string(sharding.chunks));
    shape[i] /= sharding.chunks[i];
  }
  const auto plain =
      checked_bytes(shape, entry_bytes, heatpp::detail::formatted("\"{}\"", shard.name.path), shard.name.op);
  const auto bytes = *stored_bytes(sharding.index.bytes, plain);  // codecs of a table keep sizes
  if (bytes > shard.bytes.size())
    raise<IoError>(shard.name.op, "got shard \"{}\" of {} bytes; expected {} or more, which its table of chunks has",
                   shard.name.path, shard.bytes.size(), bytes);
  shape.push_back(2);
  auto table = chunk_memory(shape, at::kLong, shard.name);
  PartReader stored(shard.bytes, sharding.index_first ? 0 : shard.bytes.size() - bytes, bytes);
  read_chunk({stored, sharding.index, shape, shard.fill, shard.name}, select(shape, {}, shard.name.op), table);
  return table;
}

/// Returns where a chunk begins in its shard, and its length in bytes.
std::pair<std::int64_t, std::int64_t> entry_of(const at::Tensor& table, const Shape& place) {
  std::int64_t number = 0;
  for (std::size_t i = 0; i < place.size(); ++i) number = number * table.size(static_cast<std::int64_t>(i)) + place[i];
  const auto* const entry = table.const_data_ptr<std::int64_t>() + 2 * number;
  return {entry[0], entry[1]};
}

void read_shard(const StoredChunk& shard, const Selection& box, const at::Tensor& out) {
  const auto& sharding = *shard.codecs.sharding;
  const auto table = table_of(shard, sharding);
  const auto size = shard.bytes.size();
  each_chunk(box, sharding.chunks, [&](const ChunkBox& part) {
    const auto [at, bytes] = entry_of(table, part.place);
    const auto place = part_of(out, part.where);
    if (at == missing && bytes == missing) return shard.fill(place);
    if (at < 0 || bytes < 0 || at > size || bytes > size - at)
      raise<IoError>(shard.name.op, "got shard \"{}\" with a chunk of {} bytes from byte {} on; expected it within {}",
                     shard.name.path, static_cast<std::uint64_t>(bytes), static_cast<std::uint64_t>(at), size);
    PartReader stored(shard.bytes, at, bytes);
    read_chunk({stored, sharding.codecs, sharding.chunks, shard.fill, shard.name}, part.box, place);
  });
}

/// Reads elements from bytes that have no codecs left.
void read_elements(const StoredChunk& chunk, const Selection& box, const at::Tensor& out) {
  if (chunk.codecs.sharding) return read_shard(chunk, box, out);
  const auto bytes = size_of(chunk.shape) * chunk.codecs.type.bytes;
  if (chunk.bytes.size() != bytes)
    raise<IoError>(chunk.name.op, "got chunk \"{}\" of {} bytes; expected {} for shape {}", chunk.name.path,
                   chunk.bytes.size(), bytes, heatpp::to_string(chunk.shape));
  const FlatArray array{chunk.codecs.type, chunk.shape};
  read_flat({chunk.bytes, array, chunk.name.path, chunk.name.op}, box, out);
}

/// Returns the size after decoding. For a shard, this is at most that of its elements, uncompressed, and of its table.
WantedBytes wanted_of(const StoredChunk& chunk) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / 4;
  const auto bytes = size_of(chunk.shape) * chunk.codecs.type.bytes;
  if (!chunk.codecs.sharding) return {bytes};
  const auto chunks = size_of(chunk.shape) / size_of(chunk.codecs.sharding->chunks);
  return {std::min(bytes, most) + std::min(chunks, most / (8 * entry_bytes)) * 8 * entry_bytes, /*exact=*/false};
}

/// Whether the bytes of a chunk are the elements of `out`, so that they can be decompressed in place.
bool is_direct(const StoredChunk& chunk, const Selection& box, const at::Tensor& out) {
  return extents(box) == chunk.shape && out.is_contiguous() && out.scalar_type() == chunk.codecs.type.in_memory &&
         chunk.codecs.bytes.front().kind == BytesCodec::Kind::compressed;
}

/// Copies decoded elements to `out`, unless they were decoded in place.
void put(const StoredChunk& chunk, const Selection& box, const at::Tensor& bytes, const at::Tensor& out) {
  const auto& type = chunk.codecs.type;
  to_native(type, bytes.data_ptr(), bytes.numel() / type.bytes);
  const bool there = bytes.data_ptr() == out.data_ptr();
  const bool aligned = bytes.storage_offset() % type.bytes == 0;  // after a checksum they may not be
  const auto values =
      there ? out : part_of((aligned ? bytes : bytes.clone()).view(type.in_memory).view(chunk.shape), box);
  if (type.element.may_overflow) copy_uint64(values, out, chunk.name.path, chunk.name.op);
  else if (!there) out.copy_(values);
}

void read_bytes(const StoredChunk& chunk, const Selection& box, const at::Tensor& out) {
  if (chunk.codecs.bytes.empty()) return read_elements(chunk, box, out);
  const bool shard = chunk.codecs.sharding != nullptr;
  const auto to = !shard && is_direct(chunk, box, out) ? out.view({-1}).view(at::kByte) : at::Tensor();
  const auto bytes = decoded(chunk.bytes, chunk.codecs.bytes, wanted_of(chunk), chunk.name, to);
  if (!shard) return put(chunk, box, bytes, out);
  MemoryReader reader({static_cast<const std::byte*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel())});
  read_elements({reader, chunk.codecs, chunk.shape, chunk.fill, chunk.name}, box, out);
}

}  // namespace

void read_chunk(const StoredChunk& chunk, Selection box, at::Tensor out) {
  const auto& [order, filters, type, sharding, bytes] = chunk.codecs;
  const auto shape = reordered(chunk.shape, order);
  const StoredChunk ordered{chunk.bytes, chunk.codecs, shape, chunk.fill, chunk.name};
  if (!order.empty()) out = out.permute(order);
  box = reordered(box, order);
  if (filters.empty()) return read_bytes(ordered, box, out);
  if (!sharding) check_length(chunk.bytes.size(), bytes, size_of(shape) * type.bytes, chunk.name);
  auto values = chunk_memory(shape, type.in_memory, chunk.name);
  read_bytes(ordered, select(shape, {}, chunk.name.op), values);
  values = part_of(unfiltered(std::move(values), filters), box);
  if (filters.front().before.element.may_overflow) copy_uint64(values, out, chunk.name.path, chunk.name.op);
  else out.copy_(values);
}

Shape readable_part(const ChunkCodecs& codecs, const Shape& shape) {
  if (!codecs.sharding || !codecs.bytes.empty() || !codecs.filters.empty()) return shape;
  const auto part = readable_part(codecs.sharding->codecs, codecs.sharding->chunks);
  auto result = part;  // in the order of the array's axes
  for (std::size_t i = 0; i < codecs.order.size(); ++i) result[static_cast<std::size_t>(codecs.order[i])] = part[i];
  return result;
}

}  // namespace heatpp::io::detail

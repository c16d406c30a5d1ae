#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/zarr/detail/chunk_codecs.hpp>

#include <cstring>

namespace heatpp::io::detail {
namespace {

using Bytes = std::vector<std::byte>;

Block bytes_of(const at::Tensor& elements) {
  return {static_cast<const std::byte*>(elements.const_data_ptr()),
          static_cast<std::size_t>(elements.numel() * elements.element_size())};
}

/// Returns the chunks of a shard one after another, with their table at its place.
Bytes shard_of(const at::Tensor& elements, const Sharding& sharding, const ChunkName& name) {
  Shape counts(elements.sizes().begin(), elements.sizes().end());
  const auto all = select(counts, {}, name.op);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] /= sharding.chunks[i];
  counts.push_back(2);
  auto table = at::empty(counts, at::kLong);
  const auto table_bytes = static_cast<std::size_t>(*stored_bytes(sharding.index.bytes, table.numel() * 8));
  Bytes shard(sharding.index_first ? table_bytes : 0);
  const auto plain = static_cast<std::size_t>(elements.numel() * elements.element_size());
  shard.reserve(plain + plain / 64 + table_bytes);
  auto* entry = table.data_ptr<std::int64_t>();
  each_chunk(all, sharding.chunks, [&](const ChunkBox& part) {
    const auto bytes = encoded_chunk(part_of(elements, part.where).contiguous(), sharding.codecs, name);
    *entry++ = std::ssize(shard);
    *entry++ = std::ssize(bytes);
    shard.insert(shard.end(), bytes.begin(), bytes.end());
  });
  const auto stored = encoded_chunk(table, sharding.index, name);
  if (sharding.index_first) std::memcpy(shard.data(), stored.data(), stored.size());
  else shard.insert(shard.end(), stored.begin(), stored.end());
  return shard;
}

}  // namespace

std::vector<std::byte> encoded_chunk(const at::Tensor& elements, const ChunkCodecs& codecs, const ChunkName& name) {
  auto values = codecs.order.empty() ? elements : elements.permute(codecs.order);
  values = filtered(values.contiguous(), codecs.filters);
  if (codecs.sharding) {
    auto shard = shard_of(values, *codecs.sharding, name);
    return codecs.bytes.empty() ? shard : encoded(shard, codecs.bytes, name);
  }
  if (codecs.type.swapped != 1) {
    values = values.clone();
    to_native(codecs.type, values.data_ptr(), values.numel());
  }
  const auto block = bytes_of(values);
  return codecs.bytes.empty() ? Bytes(block.begin(), block.end()) : encoded(block, codecs.bytes, name);
}

}  // namespace heatpp::io::detail

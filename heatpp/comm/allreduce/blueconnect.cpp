#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {
namespace {

std::vector<std::int64_t> equal_parts(std::int64_t count, int parts) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), count / parts);
  for (std::int64_t i = 0; i < count % parts; ++i) ++sizes[static_cast<std::size_t>(i)];
  return sizes;
}

Buffer part(const Buffer& data, std::span<const std::int64_t> sizes, int index) {
  std::int64_t first = 0;
  for (int i = 0; i < index; ++i) first += sizes[static_cast<std::size_t>(i)];
  auto* at = static_cast<std::byte*>(data.data) + first * static_cast<std::int64_t>(itemsize(data.dtype));
  return {at, sizes[static_cast<std::size_t>(index)], data.dtype};
}

void reduce_from(std::span<const Level> levels, Buffer data, ReduceOp op) {
  const auto& group = levels.front().group;
  if (levels.size() == 1) return group.allreduce(data, op);
  if (group.size() == 1) return reduce_from(levels.subspan(1), data, op);
  const auto sizes = equal_parts(data.count, group.size());
  const auto mine = part(data, sizes, group.rank());
  group.reduce_scatter(data, sizes, op);
  reduce_from(levels.subspan(1), mine, op);
  group.allgather(mine, data, sizes);
}

}  // namespace

void blueconnect(const Topology& topology, Buffer data, ReduceOp op) { reduce_from(topology.levels(), data, op); }

}  // namespace heatpp::comm

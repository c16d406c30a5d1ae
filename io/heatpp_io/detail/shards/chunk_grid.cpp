#include <heatpp_io/detail/shards/shard_reader.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>

namespace heatpp::io::detail {
namespace {

/// Fills in `part` from `axis` on.
void walk(const Selection& box, const Shape& chunks, ChunkPart& part,
          const std::function<void(const ChunkPart&)>& use) {
  const auto axis = part.place.size();
  if (axis == box.size()) return use(part);
  const auto& range = box[axis];
  const auto extent = chunks[axis];
  const auto last = range.start + (range.count - 1) * range.step;
  for (auto place = range.start / extent; place <= last / extent; ++place) {
    const auto [first, count] = rows_within(range, place * extent, (place + 1) * extent);
    if (count == 0) continue;
    part.place.push_back(place);
    part.box.push_back({range.start + first * range.step - place * extent, count, range.step});
    part.where.push_back({first, count, 1});
    walk(box, chunks, part, use);
    part.place.pop_back();
    part.box.pop_back();
    part.where.pop_back();
  }
}

}  // namespace

void each_chunk(const Selection& box, const Shape& chunks, const std::function<void(const ChunkPart&)>& use) {
  for (const auto& range : box)
    if (range.count == 0) return;
  ChunkPart part;
  walk(box, chunks, part, use);
}

}  // namespace heatpp::io::detail

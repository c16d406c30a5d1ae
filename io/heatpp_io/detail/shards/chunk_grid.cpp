#include <heatpp_io/detail/shards/chunk_grid.hpp>

#include <ATen/ATen.h>

#include <heatpp_io/detail/shards/shard_reader.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using Use = std::function<void(const ChunkBox&)>;

void walk(const Selection& box, const ChunkGrid& grid, ChunkBox& part, const Use& use);

/// Sets `part` for one chunk along the next axis, of `extent` indices from `begin` on, and continues.
void step_into(const Selection& box, const ChunkGrid& grid, ChunkBox& part, const ChunkRun& chunk, const Use& use) {
  const auto& range = box[part.place.size()];
  const auto end = chunk.begin + std::min(chunk.extent, std::numeric_limits<std::int64_t>::max() - chunk.begin);
  const auto [first, count] = rows_within(range, chunk.begin, end);
  if (count == 0) return;
  part.place.push_back(chunk.place);
  part.extents.push_back(chunk.extent);
  part.box.push_back({range.start + first * range.step - chunk.begin, count, range.step});
  part.where.push_back({first, count, 1});
  walk(box, grid, part, use);
  part.place.pop_back();
  part.extents.pop_back();
  part.box.pop_back();
  part.where.pop_back();
}

/// Sets `part` along the axes that are not set yet.
void walk(const Selection& box, const ChunkGrid& grid, ChunkBox& part, const Use& use) {
  const auto axis = part.place.size();
  if (axis == box.size()) return use(part);
  const auto& range = box[axis];
  const auto last = range.start + (range.count - 1) * range.step;
  for (const auto& run : grid[axis])
    for (auto i = std::max<std::int64_t>(0, range.start - run.begin) / run.extent;
         i < run.count && i <= (last - run.begin) / run.extent && run.begin <= last; ++i)
      step_into(box, grid, part, {run.place + i, run.begin + i * run.extent, run.extent, 1}, use);
}

}  // namespace

ChunkGrid regular_grid(const Shape& chunks) {
  ChunkGrid grid;
  for (const auto extent : chunks) grid.push_back({{.extent = extent}});
  return grid;
}

at::Tensor part_of(at::Tensor elements, const Selection& selection) {
  for (std::size_t i = 0; i < selection.size(); ++i) {
    const auto& [start, count, step] = selection[i];
    elements = elements.slice(static_cast<std::int64_t>(i), start, start + (count - 1) * step + 1, step);
  }
  return elements;
}

void each_chunk(const Selection& box, const ChunkGrid& grid, const Use& use) {
  for (const auto& range : box)
    if (range.count == 0) return;
  ChunkBox part;
  walk(box, grid, part, use);
}

void each_chunk(const Selection& box, const Shape& chunks, const Use& use) {
  each_chunk(box, regular_grid(chunks), use);
}

}  // namespace heatpp::io::detail

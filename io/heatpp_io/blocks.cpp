#include <heatpp_io/blocks.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/blocks/detail/block_access.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/elements/record.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/detail/shards/strategy.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

#include <algorithm>
#include <array>

namespace heatpp::io {
namespace {

using heatpp::detail::BlockAccess;

constexpr auto op = "load_blocks";
// Rows that are copied to memory with ghost cells should still be in the cache.
constexpr std::int64_t staging_bytes = std::int64_t{1} << 20;

/// Throws ValueError if the options name something that the plan determines.
void check(const LoadOptions& options) {
  const auto* const named = options.split           ? "a split"
                            : !options.grid.empty() ? "a grid"
                            : options.dtype         ? "a dtype"
                            : options.comm          ? "a communicator"
                            : options.device != cpu ? "a device"
                                                    : nullptr;
  if (named)
    heatpp::detail::raise<ValueError>(op, "got {} in the options; expected none, since the plan has it", named);
}

DNDarray loaded(const Source& source, const BlockPlan& plan, LoadOptions options) {
  const auto& layout = plan.layout();
  if (layout.is_grid()) options.grid = Grid(layout.grid());
  else if (!layout.shape().empty()) options.split = layout.split().value_or(0);
  options.dtype = plan.dtype();
  options.comm = plan.comm();
  return load(source, options);
}

/// Whether each rank reads its bricks directly; equal on all ranks, by an allreduce of 8 bytes. This pays if the bricks
/// have long runs in the file and a temporary array would cost more.
bool bricks_alone(const detail::DatasetInfo& info, const detail::Selection& box, const BlockPlan& plan) {
  if (!info.chunk.empty() || info.compressed || info.in_other_files || detail::extents(box) != plan.layout().shape() ||
      std::ranges::any_of(box, [](const auto& range) { return range.step != 1; }))
    return false;
  const bool alone = std::ranges::all_of(BlockAccess::bricks(plan), [&](const Brick& brick) {
    return detail::read_amplification(info, brick.shape) <= detail::plain_limit;
  });
  std::array<std::int64_t, 1> all{alone ? 1 : 0};
  plan.comm().allreduce(all, ReduceOp::min);
  return all[0] == 1;
}

void read_brick(detail::ShardReader& reader, const detail::Selection& box, const at::Tensor& inside) {
  if (inside.is_contiguous()) return reader.read(box, inside);
  const auto limit = staging_bytes / inside.element_size();
  const auto staging = at::empty({std::min(limit, inside.numel())}, inside.options());
  for (const auto& piece : detail::plan_pieces(detail::extents(box), limit)) {
    const auto part = staging.narrow(0, 0, piece.size).view(piece.count);
    auto place = inside;
    for (std::size_t axis = 0; axis < piece.count.size(); ++axis)
      place = place.narrow(static_cast<std::int64_t>(axis), piece.first[axis], piece.count[axis]);
    reader.read(detail::narrow(box, piece.first, piece.count), part);
    place.copy_(part);
  }
}

/// Reads each brick directly if that is faster. Returns false otherwise.
template <class Memory>
bool read_alone(const Source& source, const BlockPlan& plan, const Memory& memory, const LoadOptions& options) {
  const auto& format = detail::format_to_read(source, plan.comm(), "load");
  const bool of_hdf5 = !options.field.empty() || options.missing_sources != MissingSources::error;
  if (!format.open || options.collective || of_hdf5) return false;
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  const auto& comm = plan.comm();
  const auto numbers = detail::numbers_for(options.decode);
  const auto found = detail::find_shards(format, source, {options.dataset, numbers}, comm, op);
  const auto box = detail::select(found.shards.info.shape, options.slices, op);
  if (detail::is_read_by_first(found.shards, box, static_cast<std::int64_t>(itemsize(plan.dtype())))) return false;
  if (!bricks_alone(found.shards.info, box, plan)) return false;
  const auto& mine = BlockAccess::bricks(plan);
  std::vector<at::Tensor> insides;
  all_or_none(comm, [&] { insides = BlockAccess::insides(plan, memory); });
  all_or_none(comm, [&] {
    detail::ShardReader reader(found.shards, found.open, op);
    for (std::size_t i = 0; i < mine.size(); ++i)
      read_brick(reader, detail::narrow(box, mine[i].offset, mine[i].shape), insides[i]);
  });
  const auto bytes = plan.layout().size() * static_cast<std::int64_t>(itemsize(plan.dtype()));
  recorder.finish(bytes, found.shards.count(), {false, "independent: each rank reads its bricks"});
  return true;
}

template <class Memory>
void load_into(const Source& source, const BlockPlan& plan, const Memory& memory, const LoadOptions& options) {
  heatpp::detail::check_agreed(op, plan.comm(), detail::settings_to_read(source, options), [&] { check(options); });
  if (!read_alone(source, plan, memory, options)) plan.to_blocks(loaded(source, plan, options), memory);
}

}  // namespace

void save_blocks(const BlockPlan& plan, std::span<const void* const> memory, const std::filesystem::path& path,
                 const SaveOptions& options) {
  save(plan.from_blocks(memory), path, options);
}
void save_blocks(const BlockPlan& plan, const void* memory, const std::filesystem::path& path,
                 const SaveOptions& options) {
  save(plan.from_blocks(memory), path, options);
}
void save_blocks(const BlockPlan& plan, std::span<const at::Tensor> blocks, const std::filesystem::path& path,
                 const SaveOptions& options) {
  save(plan.from_blocks(blocks), path, options);
}

void load_blocks(const Source& source, const BlockPlan& plan, std::span<void* const> memory,
                 const LoadOptions& options) {
  load_into(source, plan, memory, options);
}
void load_blocks(const Source& source, const BlockPlan& plan, void* memory, const LoadOptions& options) {
  load_into(source, plan, std::span<void* const>(&memory, 1), options);
}
void load_blocks(const Source& source, const BlockPlan& plan, std::span<const at::Tensor> blocks,
                 const LoadOptions& options) {
  load_into(source, plan, blocks, options);
}

}  // namespace heatpp::io

#include <heatpp/comm/detail/schedule/parts.hpp>

#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

using MakeSteps = Steps (*)(const Tree& tree, std::span<const Owned> parts, int rank, const NodeMemory& memory);

// Slices are large compared with the cost of a message, and few.
constexpr std::int64_t slice_bytes = 1 << 20, most_slices = 16;

// The first number of a key of the cache; keys of other collectives begin with a count.
enum Kind : std::int64_t { reduced = -1, spread = -2 };

/// Copies in memory are read by all ranks at once; sums keep the order that messages give them.
Tree machine_of(const PartsJob& job, Kind kind) {
  return factored(without_single_children(job.machine), 1, kind == spread ? job.memory.level : -1);
}

Schedule make_schedule(const PartsJob& job, std::span<const Owned> parts, std::int64_t slices, std::int64_t itemsize,
                       Kind kind) {
  const auto machine = machine_of(job, kind);
  const MakeSteps make = kind == reduced ? &reduce_scatter_steps : &allgather_steps;
  const auto rank = job.comm.rank();
  const NodeMemory memory{job.memory.level, Channels::slot_bytes / itemsize};
  auto schedule =
      in_slices(parts, slices, [&](std::span<const Owned> slice) { return make(machine, slice, rank, memory); });
  schedule.in_memory = memory.level >= 0;
  return schedule;
}

std::unique_ptr<Operation> start_in_slices(const PartsJob& job, const Buffer& data, std::span<const Owned> parts,
                                           Kind kind, ReduceOp op) {
  const auto slices = std::clamp<std::int64_t>(data.bytes() / slice_bytes, 1, most_slices);
  const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
  ScheduleCache::Key key{kind, slices, job.memory.level >= 0 ? item : 0};
  for (const auto& [range, owner] : parts) key.insert(key.end(), {owner, range.count});
  auto schedule = job.schedules.get(key, [&] { return make_schedule(job, parts, slices, item, kind); });
  return std::make_unique<Execution>(job.comm, std::move(schedule), data, op, Coding{}, job.call, job.memory.channels);
}

}  // namespace

std::unique_ptr<Operation> reduce_parts(const PartsJob& job, const Buffer& data, std::span<const Owned> parts,
                                        ReduceOp op) {
  return rounded_once(data, op, job.comm.size(),
                      [&](const Buffer& wide) { return start_in_slices(job, wide, parts, reduced, op); });
}

std::unique_ptr<Operation> reduce_to_root(const PartsJob& job, const Buffer& data, int root, ReduceOp op) {
  return reduce_parts(job, data, Parts{{{0, data.count}, root}}, op);
}

std::unique_ptr<Operation> spread_parts(const PartsJob& job, const Buffer& data, std::span<const Owned> parts) {
  return start_in_slices(job, data, parts, spread, ReduceOp::sum);
}

}  // namespace heatpp::detail

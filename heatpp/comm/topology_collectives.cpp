#include <heatpp/comm/allreduce/planned.hpp>
#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/bucket.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/schedule/parts.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <fmt/ranges.h>
#include <algorithm>

namespace heatpp {

using namespace detail;
using comm::check_options;
using comm::plan_of;
using comm::start_planned;
using comm::text_of;

namespace {

/// Writes the counts, dtypes and parts of a call on this machine as text, if calls are compared.
std::string list_text(const Topology& topology, const AllreduceOptions& options, std::span<const Buffer> list) {
  if (!debugging(topology.comm())) return {};
  std::string text = formatted("{}{:x}", options.reproducible ? "reproducible " : "", topology.state().hash);
  for (const auto& one : list) text += formatted(", {} x {}", one.count, name(one.dtype));
  return text;
}
std::string counts_text(const Topology& topology, std::span<const std::int64_t> counts) {
  if (!debugging(topology.comm())) return {};
  return formatted("{:x}, counts {}", topology.state().hash, fmt::join(counts, ", "));
}

PartsJob job_for(const Topology& topology, const char* call, const ScheduleMemory& memory) {
  return {topology.comm(), topology.tree(), topology.state().schedules, call, memory};
}

/// Gathers parts that already lie in their place on every rank.
std::unique_ptr<Operation> gather_in_place(const Topology& topology, const Buffer& all,
                                           std::span<const std::int64_t> counts, const char* call,
                                           const ScheduleMemory& memory) {
  if (topology.comm().size() == 1) return std::make_unique<Done>();
  if (topology.state().nodes == 1 && all.count < max_count) return native_allgather(topology.comm(), all, counts, call);
  return spread_parts(job_for(topology, call, memory), all, parts_by_rank(parts_of(counts)));
}

std::unique_ptr<Operation> start_allgather(const Topology& topology, const ConstBuffer& mine, const Buffer& all,
                                           std::span<const std::int64_t> counts, const char* call,
                                           const ScheduleMemory& memory) {
  const auto& comm = topology.comm();
  if (by_segment(topology)) return shared_allgather(comm, all, counts, call, place_part(comm, mine, all, counts));
  std::vector<std::unique_ptr<Operation>> both;
  both.push_back(unless_wrong_anywhere(comm, call, place_part(comm, mine, all, counts)));
  both.push_back(gather_in_place(topology, all, counts, call, memory));
  return together(std::move(both));
}

}  // namespace

void Topology::allreduce(Buffer data, const AllreduceOptions& options, Site site) const {
  check_options(*this, options, data);
  const auto plan = plan_of(*this, options, data);
  if (comm_.size() == 1) return;
  comm_.impl().count(data.bytes());
  const Call call{"allreduce", data.count, data.dtype, options.op, text_of(*this, options, plan)};
  run_collective(comm_, call, site, [&] { return start_planned(*this, options, data, plan); });
}

Request Topology::iallreduce(Buffer data, const AllreduceOptions& options, Site site) const {
  check_options(*this, options, data);
  const auto plan = plan_of(*this, options, data);
  if (comm_.size() == 1) return data.memory.on_device() ? start(device::settled(data.memory)) : Request();
  comm_.impl().count(data.bytes());
  const Call call{"iallreduce", data.count, data.dtype, options.op, text_of(*this, options, plan)};
  if (data.memory.on_device()) {
    check_collective(comm_, call, site);
    return start(start_planned(*this, options, data, plan));
  }
  return start_collective(comm_, call, site, [=, *this] { return start_planned(*this, options, data, plan); });
}

void Topology::allreduce(Buffer data, ReduceOp op, std::string_view algorithm, Site site) const {
  allreduce(data, AllreduceOptions{.op = op, .algorithm = algorithm}, site);
}

Request Topology::iallreduce(Buffer data, ReduceOp op, std::string_view algorithm, Site site) const {
  return iallreduce(data, AllreduceOptions{.op = op, .algorithm = algorithm}, site);
}

void Topology::allreduce(std::span<const Buffer> data, ReduceOp op, Site site) const {
  iallreduce(data, op, site).wait();
}

Request Topology::iallreduce(std::span<const Buffer> data, ReduceOp op, Site site) const {
  return iallreduce(data, AllreduceOptions{.op = op}, site);
}

Request Topology::iallreduce(std::span<const Buffer> data, const AllreduceOptions& options, Site site) const {
  if (!options.residual.empty())
    raise<ValueError>("allreduce", "got a residual of {} values for a list; expected none", options.residual.size());
  std::int64_t bytes = 0;
  for (const auto& one : data) {
    check_options(*this, options, one);
    bytes += one.bytes();
  }
  if (comm_.size() == 1) return {};
  const auto start_all = [options](const Topology& topology, std::span<const Buffer> list) {
    return in_buckets(list, [&](const Buffer& bucket) {
      topology.comm().impl().count(bucket.bytes());
      return start_planned(topology, options, bucket, plan_of(topology, options, bucket));
    });
  };
  const Call call{"iallreduce of a list", bytes, Dtype::uint8, options.op, list_text(*this, options, data)};
  if (std::ranges::any_of(data, [](const Buffer& one) { return one.memory.on_device(); })) {
    check_collective(comm_, call, site);
    return start(start_all(*this, data));
  }
  return start_collective(comm_, call, site,
                          [=, *this, list = std::vector(data.begin(), data.end())] { return start_all(*this, list); });
}

void Topology::reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  check_counts("reduce_scatter", comm_, counts, data.count);
  check_op("reduce_scatter", op, data.dtype);
  const Call call{"reduce_scatter", data.count, data.dtype, op, counts_text(*this, counts)};
  if (data.memory.on_device()) {
    check_collective(comm_, call, site);
    return device::reduce_scatter(*this, data, counts, op);
  }
  comm_.impl().count(data.bytes());
  if (comm_.size() == 1) return;
  run_collective(comm_, call, site, [&] {
    find_memory_for(*this, data.bytes());
    return reduce_parts(job_for(*this, "reduce_scatter", state_->memory), data, parts_by_rank(parts_of(counts)), op);
  });
}

Request Topology::ireduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  if (data.memory.on_device()) {
    reduce_scatter(data, counts, op, site);
    return {};
  }
  check_counts("ireduce_scatter", comm_, counts, data.count);
  check_op("ireduce_scatter", op, data.dtype);
  comm_.impl().count(data.bytes());
  if (comm_.size() == 1) return {};
  const Call call{"ireduce_scatter", data.count, data.dtype, op, counts_text(*this, counts)};
  return start_collective(comm_, call, site,
                          [=, *this, memory = state_->memory, parts = parts_by_rank(parts_of(counts))] {
                            return reduce_parts(job_for(*this, "ireduce_scatter", memory), data, parts, op);
                          });
}

void Topology::reduce(Buffer data, int root, ReduceOp op, Site site) const {
  check_root("reduce", comm_, root);
  check_op("reduce", op, data.dtype);
  const Call call{"reduce", data.count, data.dtype, root, op_name(op)};
  if (data.memory.on_device()) {
    check_collective(comm_, call, site);
    return device::reduce(*this, data, root, op);
  }
  comm_.impl().count(data.bytes());
  if (comm_.size() == 1) return;
  run_collective(comm_, call, site, [&] {
    find_memory_for(*this, data.bytes());
    return reduce_to_root(job_for(*this, "reduce", state_->memory), data, root, op);
  });
}

void Topology::allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  check_counts("allgather", comm_, counts, all.count);
  const Call call{"allgather", all.count, all.dtype, {}, counts_text(*this, counts)};
  if (all.memory.on_device() || mine.memory.on_device()) {
    check_collective(comm_, call, site);
    return device::allgather(*this, mine, all, counts);
  }
  comm_.impl().count(mine.bytes());
  run_collective(comm_, call, site, [&] {
    if (!by_segment(*this)) find_memory_for(*this, all.bytes());
    return start_allgather(*this, mine, all, counts, "allgather", state_->memory);
  });
}

Request Topology::iallgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  if (all.memory.on_device() || mine.memory.on_device()) {
    allgather(mine, all, counts, site);
    return {};
  }
  check_counts("iallgather", comm_, counts, all.count);
  comm_.impl().count(mine.bytes());
  const Call call{"iallgather", all.count, all.dtype, {}, counts_text(*this, counts)};
  return start_collective(comm_, call, site,
                          [=, *this, memory = state_->memory, kept = std::vector(counts.begin(), counts.end())] {
                            return start_allgather(*this, mine, all, kept, "iallgather", memory);
                          });
}

void Topology::broadcast(Buffer data, int root, Site site) const {
  check_root("broadcast", comm_, root);
  const Call call{"broadcast", data.count, data.dtype, root};
  if (data.memory.on_device()) {
    check_collective(comm_, call, site);
    return device::broadcast(*this, data, root);
  }
  comm_.impl().count(data.bytes());
  if (comm_.size() == 1) return;
  run_collective(comm_, call, site, [&] {
    if (!by_segment(*this)) find_memory_for(*this, data.bytes());
    return start_broadcast(*this, data, root, "broadcast", state_->memory);
  });
}

std::unique_ptr<Operation> detail::start_broadcast(const Topology& topology, Buffer data, int root, const char* call,
                                                   const ScheduleMemory& memory) {
  if (by_segment(topology)) return shared_broadcast(topology.comm(), data, root);
  if (topology.state().nodes == 1) return native_broadcast(topology.comm(), data, root, call);
  return spread_parts(job_for(topology, call, memory), data, Parts{{{0, data.count}, root}});
}

}  // namespace heatpp

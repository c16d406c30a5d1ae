#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/reproducible/allreduce.hpp>
#include <heatpp/comm/detail/schedule/bucket.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/schedule/parts.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <fmt/ranges.h>
#include <algorithm>

namespace heatpp {

using namespace detail;

namespace {

/// The machine with its levels in that order; nothing where it has no such order.
std::optional<Tree> in_order(const Topology& topology, std::span<const int> order) {
  return reordered(without_single_children(topology.tree()), order);
}

void check_options(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  check_op("allreduce", options.op, data.dtype);
  if (!options.order.empty() && !in_order(topology, options.order))
    raise<ValueError>("allreduce", "got the order {} of levels; expected each level of several parts of one size once",
                      fmt::join(options.order, ", "));
  if (options.wire == Dtype::float32) return;
  const bool sums = options.op == ReduceOp::sum || options.op == ReduceOp::mean;
  const bool known = options.wire == Dtype::bfloat16 || options.wire == Dtype::int8;
  if (data.dtype != Dtype::float32 || !sums || !known)
    raise<TypeError>("allreduce",
                     "got the wire format {} for {}{}; expected bfloat16 or int8 for a sum or mean of float32",
                     name(options.wire), sums ? "" : "a minimum, maximum or product of ", name(data.dtype));
  if (!options.algorithm.empty() || options.reproducible)
    raise<ValueError>("allreduce", "got a wire format and an algorithm or order; expected one of these");
  if (!options.order.empty())
    raise<ValueError>("allreduce", "got a wire format and an order of levels; expected one of these");
  if (!options.residual.empty() && std::ssize(options.residual) != data.count)
    raise<ValueError>("allreduce", "got a residual of {} values for {}; expected equally many", options.residual.size(),
                      data.count);
}

/// Whether the sum is to be exact. What travels coded is not, nor are sums of devices.
bool is_exact(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  return (options.reproducible || wants_exact_sums(topology.comm())) && has_exact_sum(options.op, data.dtype) &&
         options.wire == Dtype::float32 && !data.memory.on_device();
}

comm::Choice choose(const Topology& topology, const AllreduceOptions& options, std::int64_t bytes) {
  if (!options.order.empty())
    return {.algorithm = comm::find_algorithm("blueconnect", topology, bytes).algorithm, .order = options.order};
  if (!options.reproducible || options.op != ReduceOp::prod)
    return comm::find_algorithm(options.algorithm, topology, bytes);
  // Shared memory is multiplied in the order of the ranks, too.
  return comm::find_algorithm(comm::shares_memory(topology) ? "shared" : "ordered", topology, bytes);
}

comm::Job job_of(const Topology& topology, const Buffer& data, std::int64_t chunk_bytes) {
  const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
  const auto chunk = chunk_bytes > 0 ? std::max<std::int64_t>(chunk_bytes / item, 1) : 0;
  return {topology.comm().rank(), data.count, item, chunk};
}

/// An all-reduce as it will be carried out.
struct Plan {
  comm::Choice choice;
  std::int64_t chunk_bytes, message_bytes;
};

Plan plan_of(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  auto choice = choose(topology, options, data.bytes());
  const auto chunk = options.chunk_bytes > 0 ? options.chunk_bytes : choice.chunk_bytes;
  const auto message = options.message_bytes > 0 ? options.message_bytes : choice.message_bytes;
  return {std::move(choice), chunk, message};
}

/// For comparison with the other ranks' plans, where calls are compared.
std::string text_of(const Topology& topology, const AllreduceOptions& options, const Plan& plan) {
  if (!debugging(topology.comm())) return {};
  const bool coded = options.wire != Dtype::float32;
  return fmt::format("{}{}, chunks {}, messages {}, order [{}], wire {}{} on {:x}",
                     options.reproducible ? "reproducible " : "",
                     coded ? "coded blueconnect" : plan.choice.algorithm->name, plan.chunk_bytes, plan.message_bytes,
                     fmt::join(plan.choice.order, " "), name(options.wire),
                     options.residual.empty() ? "" : " with residual", topology.state().hash);
}

/// What a schedule follows from, beside the machine.
ScheduleCache::Key key_of(const Plan& plan, const comm::Job& job, Dtype wire) {
  const auto algorithm = plan.choice.algorithm - comm::algorithms().data();
  ScheduleCache::Key key{job.count,
                         job.itemsize,
                         job.chunk,
                         plan.message_bytes,
                         static_cast<std::int64_t>(wire),
                         wire == Dtype::float32 ? algorithm : -1};
  key.insert(key.end(), plan.choice.order.begin(), plan.choice.order.end());
  return key;
}

std::unique_ptr<Operation> start_coded(const Topology& topology, const AllreduceOptions& options, const Buffer& data,
                                       const Plan& plan) {
  auto job = job_of(topology, data, plan.chunk_bytes);
  job.itemsize = static_cast<std::int64_t>(itemsize(options.wire));  // what the size of messages between nodes counts
  auto schedule = topology.state().schedules.get(key_of(plan, job, options.wire), [&] {
    auto made = comm::coded_blueconnect(topology.tree(), job);
    made.message_bytes = plan.message_bytes;
    return made;
  });
  const Coding coding{options.wire, options.residual.empty() ? nullptr : options.residual.data()};
  return std::make_unique<Execution>(topology.comm(), std::move(schedule), data, options.op, coding);
}

std::unique_ptr<Operation> start_scheduled(const Topology& topology, ReduceOp op, const Buffer& data,
                                           const Plan& plan) {
  const auto job = job_of(topology, data, plan.chunk_bytes);
  auto schedule = topology.state().schedules.get(key_of(plan, job, Dtype::float32), [&] {
    const auto machine = plan.choice.order.empty() ? std::nullopt : in_order(topology, plan.choice.order);
    auto made = plan.choice.algorithm->schedule(machine ? *machine : topology.tree(), job);
    made.message_bytes = plan.message_bytes;
    return made;
  });
  return std::make_unique<Execution>(topology.comm(), std::move(schedule), data, op);
}

std::unique_ptr<Operation> start_by(const Topology& topology, ReduceOp op, const Buffer& data, const Plan& plan) {
  const auto own = plan.choice.algorithm->start;
  return own ? own(topology, data, op) : start_scheduled(topology, op, data, plan);
}

std::unique_ptr<Operation> start_exact(const Topology& topology, const AllreduceOptions& options, const Buffer& data,
                                       const Plan& plan) {
  const auto in_parts = [&](const Buffer& wide, ReduceOp op) {
    return start_by(topology, op, wide, plan_of(topology, options, wide));
  };
  const auto name = plan.choice.algorithm->name;
  if (name != "shared" && name != "ordered")
    return exact_allreduce(topology.comm(), data, options.op, {.at_once = {}, .in_parts = in_parts});
  const auto at_once = [&](const Buffer& real, ReduceOp op) { return start_by(topology, op, real, plan); };
  return exact_allreduce(topology.comm(), data, options.op, {.at_once = at_once, .in_parts = in_parts});
}

std::unique_ptr<Operation> start_planned(const Topology& topology, const AllreduceOptions& options, const Buffer& data,
                                         const Plan& plan) {
  if (data.memory.on_device()) return device::start_allreduce(topology, options, data);
  if (options.wire != Dtype::float32) return start_coded(topology, options, data, plan);
  if (is_exact(topology, options, data)) return start_exact(topology, options, data, plan);
  return rounded_once(data, options.op, topology.comm().size(),
                      [&](const Buffer& wide) { return start_by(topology, options.op, wide, plan); });
}

/// Counts and dtypes of a list, and counts of parts, on this machine, where calls are compared.
std::string list_text(const Topology& topology, const AllreduceOptions& options, std::span<const Buffer> list) {
  if (!debugging(topology.comm())) return {};
  std::string text = fmt::format("{}{:x}", options.reproducible ? "reproducible " : "", topology.state().hash);
  for (const auto& one : list) text += fmt::format(", {} x {}", one.count, name(one.dtype));
  return text;
}
std::string counts_text(const Topology& topology, std::span<const std::int64_t> counts) {
  if (!debugging(topology.comm())) return {};
  return fmt::format("{:x}, counts {}", topology.state().hash, fmt::join(counts, ", "));
}

PartsJob job_for(const Topology& topology, const char* call) {
  return {topology.comm(), &topology.tree(), topology.state().schedules, call};
}

}  // namespace

void Topology::allreduce(Buffer data, const AllreduceOptions& options, Site site) const {
  check_options(*this, options, data);
  const auto plan = plan_of(*this, options, data);
  if (comm_.size() == 1) return;
  comm_.impl().count(data.bytes());
  const Call call{"allreduce", data.count, data.dtype, static_cast<int>(options.op), text_of(*this, options, plan)};
  run_collective(comm_, call, site, [&] { return start_planned(*this, options, data, plan); });
}

Request Topology::iallreduce(Buffer data, const AllreduceOptions& options, Site site) const {
  check_options(*this, options, data);
  const auto plan = plan_of(*this, options, data);
  if (comm_.size() == 1) return data.memory.on_device() ? start(device::settled(data.memory)) : Request();
  comm_.impl().count(data.bytes());
  const Call call{"iallreduce", data.count, data.dtype, static_cast<int>(options.op), text_of(*this, options, plan)};
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
  const Call call{"iallreduce of a list", bytes, Dtype::uint8, static_cast<int>(options.op),
                  list_text(*this, options, data)};
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
  const Call call{"reduce_scatter", data.count, data.dtype, static_cast<int>(op), counts_text(*this, counts)};
  if (data.memory.on_device()) {
    check_collective(comm_, call, site);
    return device::reduce_scatter(*this, data, counts, op);
  }
  comm_.impl().count(data.bytes());
  if (comm_.size() == 1) return;
  run_collective(comm_, call, site,
                 [&] { return reduce_parts(job_for(*this, "reduce_scatter"), data, parts_of(counts), op); });
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
  run_collective(comm_, call, site, [&] { return reduce_to_root(job_for(*this, "reduce"), data, root, op); });
}

void Topology::allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  check_counts("allgather", comm_, counts, all.count);
  const Call call{"allgather", all.count, all.dtype, 0, counts_text(*this, counts)};
  if (all.memory.on_device() || mine.memory.on_device()) {
    check_collective(comm_, call, site);
    return device::allgather(*this, mine, all, counts);
  }
  comm_.impl().count(all.bytes());
  run_collective(comm_, call, site, [&] {
    std::vector<std::unique_ptr<Operation>> both;
    both.push_back(unless_wrong_anywhere(comm_, "allgather", place_part(comm_, mine, all, counts)));
    if (comm_.size() > 1) both.push_back(spread_parts(job_for(*this, "allgather"), all, parts_of(counts)));
    return together(std::move(both));
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
  run_collective(comm_, call, site,
                 [&] { return spread_parts(job_for(*this, "broadcast"), data, whole_of(comm_, root, data.count)); });
}

}  // namespace heatpp

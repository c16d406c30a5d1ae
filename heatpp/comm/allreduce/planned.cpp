#include <heatpp/comm/allreduce/planned.hpp>
#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/reproducible/allreduce.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <fmt/ranges.h>
#include <algorithm>
#include <bit>

namespace heatpp::comm {

using namespace detail;

namespace {

/// Returns the machine with its levels in that order; nothing if it has no such order.
std::optional<Tree> in_order(const Topology& topology, std::span<const int> order) {
  return reordered(without_single_children(topology.tree()), order);
}

/// Whether the sum is to be exact. Values that travel coded are not.
bool is_exact(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  return (options.reproducible || wants_exact_sums(topology.comm())) && has_exact_sum(options.op, data.dtype) &&
         options.wire == Wire::float32;
}

Choice choose(const Topology& topology, const AllreduceOptions& options, std::int64_t bytes) {
  if (!options.order.empty())
    return {.algorithm = find_algorithm("blueconnect", topology, bytes).algorithm, .order = options.order};
  if (!options.reproducible || options.op != ReduceOp::prod) return find_algorithm(options.algorithm, topology, bytes);
  // Shared memory multiplies in the order of the ranks, too.
  return find_algorithm(shares_memory(topology.comm()) ? "shared" : "ordered", topology, bytes);
}

Job job_of(const Topology& topology, const Buffer& data, const Plan& plan, Wire wire) {
  const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
  const auto chunk = plan.chunk_bytes > 0 ? std::max<std::int64_t>(plan.chunk_bytes / item, 1) : 0;
  Job job{topology.comm().rank(), data.count, item, chunk, {plan.memory.level, Channels::slot_bytes / item}};
  if (wire != Wire::float32) job.itemsize = (wire_bits(wire) + 7) / 8;
  if (plan.choice.balanced) job.costs = topology.state().calibration.costs;
  if (plan.choice.rings) job.style = Style::ring;
  return job;
}

/// Returns what determines a schedule, beside the machine.
ScheduleCache::Key key_of(const Plan& plan, const Job& job, Wire wire) {
  const auto algorithm = plan.choice.algorithm - algorithms().data();
  ScheduleCache::Key key{job.count,
                         job.itemsize,
                         job.chunk,
                         plan.message_bytes,
                         static_cast<std::int64_t>(wire),
                         wire == Wire::float32 ? algorithm : -1,
                         plan.choice.rings,
                         job.memory.level};
  for (const auto& cost : job.costs)
    for (const auto number : {cost.latency, cost.bandwidth}) key.push_back(std::bit_cast<std::int64_t>(number));
  key.insert(key.end(), plan.choice.order.begin(), plan.choice.order.end());
  return key;
}

Schedule make_schedule(const Topology& topology, const Plan& plan, const Job& job, Wire wire) {
  if (wire != Wire::float32) return coded_blueconnect(topology.tree(), job);
  const auto machine = plan.choice.order.empty() ? std::nullopt : in_order(topology, plan.choice.order);
  return plan.choice.algorithm->schedule(machine ? *machine : topology.tree(), job);
}

std::unique_ptr<Operation> start_scheduled(const Topology& topology, const AllreduceOptions& options,
                                           const Buffer& data, const Plan& plan) {
  const auto job = job_of(topology, data, plan, options.wire);
  auto schedule = topology.state().schedules.get(key_of(plan, job, options.wire), [&] {
    auto made = make_schedule(topology, plan, job, options.wire);
    made.message_bytes = plan.message_bytes;
    return made;
  });
  const Coding coding{options.wire, options.residual.empty() ? nullptr : options.residual.data()};
  return std::make_unique<Execution>(topology.comm(), std::move(schedule), data, options.op, coding, plan.call,
                                     plan.memory.channels);
}

std::unique_ptr<Operation> start_by(const Topology& topology, const AllreduceOptions& options, ReduceOp op,
                                    const Buffer& data, const Plan& plan) {
  if (const auto own = plan.choice.algorithm->start) return own(topology, data, op, plan.call);
  auto by = options;
  by.op = op;
  return start_scheduled(topology, by, data, plan);
}

std::unique_ptr<Operation> start_exact(const Topology& topology, const AllreduceOptions& options, const Buffer& data,
                                       const Plan& plan) {
  const auto in_parts = [&](const Buffer& wide, ReduceOp op) {
    auto by = plan_of(topology, options, wide);
    by.memory = plan.memory;
    by.call = plan.call;
    return start_by(topology, options, op, wide, by);
  };
  const auto at_once = [&](const Buffer& real, ReduceOp op) { return start_by(topology, options, op, real, plan); };
  ExactMakers makers{.at_once = {}, .in_parts = in_parts};
  if (const auto name = plan.choice.algorithm->name; name == "shared" || name == "ordered") makers.at_once = at_once;
  return exact_allreduce(topology.comm(), data, options.op, makers);
}

}  // namespace

void check_options(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  check_op("allreduce", options.op, data.dtype);
  if (!options.order.empty() && !in_order(topology, options.order))
    raise<ValueError>("allreduce", "got the order {} of levels; expected each level of several parts of one size once",
                      fmt::join(options.order, ", "));
  if (options.wire == Wire::float32) return;
  const bool sums = options.op == ReduceOp::sum || options.op == ReduceOp::mean;
  if (data.dtype != Dtype::float32 || !sums)
    raise<TypeError>("allreduce", "got the wire format {} for {}{}; expected a sum or mean of float32",
                     name(options.wire), sums ? "" : "a minimum, maximum or product of ", name(data.dtype));
  if (options.reproducible)
    raise<ValueError>("allreduce", "got a wire format and a reproducible sum; expected one of these");
  if (!options.algorithm.empty())
    raise<ValueError>("allreduce", "got a wire format and the algorithm \"{}\"; expected one of these",
                      options.algorithm);
  if (!options.order.empty())
    raise<ValueError>("allreduce", "got a wire format and an order of levels; expected one of these");
  if (!options.residual.empty() && std::ssize(options.residual) != data.count)
    raise<ValueError>("allreduce", "got a residual of {} values for {}; expected equally many", options.residual.size(),
                      data.count);
}

Plan plan_of(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  auto choice = choose(topology, options, data.bytes());
  const auto chunk = options.chunk_bytes > 0 ? options.chunk_bytes : choice.chunk_bytes;
  const auto message = options.message_bytes > 0 ? options.message_bytes : choice.message_bytes;
  return {std::move(choice), chunk, message, topology.state().memory};
}

std::string text_of(const Topology& topology, const AllreduceOptions& options, const Plan& plan) {
  if (!debugging(topology.comm())) return {};
  const bool coded = options.wire != Wire::float32;
  return formatted("{}{}, chunks {}, messages {}, order [{}]{}, wire {}{} on {:x}",
                   options.reproducible ? "reproducible " : "",
                   coded ? "coded blueconnect" : plan.choice.algorithm->name, plan.chunk_bytes, plan.message_bytes,
                   plan.choice.balanced ? "balanced" : formatted("{}", fmt::join(plan.choice.order, " ")),
                   plan.choice.rings ? " in rings" : "", name(options.wire),
                   options.residual.empty() ? "" : " with residual", topology.state().hash);
}

std::unique_ptr<Operation> start_planned(const Topology& topology, const AllreduceOptions& options, const Buffer& data,
                                         const Plan& plan) {
  if (data.memory.on_device() && is_exact(topology, options, data)) {
    // The memory of the caller's name may be gone by then.
    auto kept = options;
    kept.algorithm = plan.choice.algorithm->name;
    return device::through_host(data, [=](Buffer host) { return start_exact(topology, kept, host, plan); });
  }
  if (data.memory.on_device()) return device::start_allreduce(topology, options, data);
  if (options.wire != Wire::float32) return start_scheduled(topology, options, data, plan);
  if (is_exact(topology, options, data)) return start_exact(topology, options, data, plan);
  return rounded_once(data, options.op, topology.comm().size(),
                      [&](const Buffer& wide) { return start_by(topology, options, options.op, wide, plan); });
}

}  // namespace heatpp::comm

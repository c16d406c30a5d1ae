#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/bucket.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <algorithm>
#include <cstring>

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

comm::Choice choose(const Topology& topology, const AllreduceOptions& options, std::int64_t bytes) {
  if (!options.order.empty())
    return {.algorithm = comm::find_algorithm("blueconnect", topology, bytes).algorithm, .order = options.order};
  if (!options.reproducible) return comm::find_algorithm(options.algorithm, topology, bytes);
  // Shared memory is summed in the order of the ranks, too.
  return comm::find_algorithm(comm::shares_memory(topology) ? "shared" : "ordered", topology, bytes);
}

comm::Job job_of(const Topology& topology, const Buffer& data, std::int64_t chunk_bytes) {
  const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
  const auto chunk = chunk_bytes > 0 ? std::max<std::int64_t>(chunk_bytes / item, 1) : 0;
  return {topology.comm().rank(), data.count, item, chunk};
}

std::unique_ptr<Operation> start_coded(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  auto* const residual = options.residual.empty() ? nullptr : options.residual.data();
  auto job = job_of(topology, data, options.chunk_bytes);
  job.itemsize = static_cast<std::int64_t>(itemsize(options.wire));  // what the size of messages between nodes counts
  auto schedule = comm::coded_blueconnect(topology.tree(), job);
  schedule.message_bytes = options.message_bytes;
  return std::make_unique<Execution>(topology.comm(), std::move(schedule), data, options.op,
                                     Coding{options.wire, residual});
}

std::unique_ptr<Operation> start_chosen(const Topology& topology, const AllreduceOptions& options, const Buffer& data,
                                        const comm::Choice& choice) {
  const auto chunk = options.chunk_bytes > 0 ? options.chunk_bytes : choice.chunk_bytes;
  const auto* const algorithm = choice.algorithm;
  const auto machine = choice.order.empty() ? std::nullopt : in_order(topology, choice.order);
  return rounded_once(data, options.op, topology.comm().size(), [&](Buffer wide) -> std::unique_ptr<Operation> {
    if (algorithm->start) return algorithm->start(topology, wide, options.op);
    auto schedule = algorithm->schedule(machine ? *machine : topology.tree(), job_of(topology, wide, chunk));
    schedule.message_bytes = options.message_bytes > 0 ? options.message_bytes : choice.message_bytes;
    return std::make_unique<Execution>(topology.comm(), std::move(schedule), wide, options.op);
  });
}

std::unique_ptr<Operation> start_allreduce(const Topology& topology, const AllreduceOptions& options,
                                           const Buffer& data) {
  topology.comm().impl().count(data.bytes());
  if (data.memory.on_device()) return device::start_allreduce(topology, options, data);
  if (options.wire != Dtype::float32) return start_coded(topology, options, data);
  return start_chosen(topology, options, data, choose(topology, options, data.bytes()));
}

std::vector<Range> parts_of(std::span<const std::int64_t> counts) {
  std::vector<Range> parts;
  std::int64_t first = 0;
  for (const auto count : counts) {
    parts.push_back({first, count});
    first += count;
  }
  return parts;
}

/// One rank's part is the whole.
std::vector<Range> all_of(const Topology& topology, int rank, std::int64_t count) {
  std::vector<Range> parts(static_cast<std::size_t>(topology.comm().size()));
  parts.at(static_cast<std::size_t>(rank)) = {0, count};
  return parts;
}

void check_counts(const char* op, const Topology& topology, std::span<const std::int64_t> counts, std::int64_t total) {
  std::int64_t sum = 0;
  for (const auto count : counts) sum += count;
  if (std::ssize(counts) != topology.comm().size() || sum != total)
    raise<ValueError>(op, "got {} counts with the sum {}; expected {} with the sum {}", counts.size(), sum,
                      topology.comm().size(), total);
}

void check_root(const char* op, const Topology& topology, int root) {
  if (root < 0 || root >= topology.comm().size())
    raise<ValueError>(op, "got the root {} among {} ranks; expected one of these", root, topology.comm().size());
}

using MakeSteps = Steps (*)(const Tree& tree, std::span<const Range> parts, int rank);

/// Slices are large against what a message costs, and few.
std::unique_ptr<Operation> start_in_slices(const Topology& topology, const Buffer& data, std::span<const Range> parts,
                                           MakeSteps make, ReduceOp op) {
  const auto machine = factored(without_single_children(topology.tree()));
  const auto slices = std::clamp<std::int64_t>(data.bytes() >> 20, 1, 16);
  const auto rank = topology.comm().rank();
  auto schedule = in_slices(parts, slices, [&](std::span<const Range> slice) { return make(machine, slice, rank); });
  return std::make_unique<Execution>(topology.comm(), std::move(schedule), data, op);
}

void reduce_to_owners(const char* call, const Topology& topology, Buffer data, std::span<const Range> parts,
                      ReduceOp op) {
  check_op(call, op, data.dtype);
  topology.comm().impl().count(data.bytes());
  if (topology.comm().size() == 1) return;
  run(*rounded_once(data, op, topology.comm().size(), [&](const Buffer& wide) {
    return start_in_slices(topology, wide, parts, &reduce_scatter_steps, op);
  }));
}

void gather_from_owners(const Topology& topology, Buffer data, std::span<const Range> parts) {
  topology.comm().impl().count(data.bytes());
  if (topology.comm().size() == 1) return;
  run(*start_in_slices(topology, data, parts, &allgather_steps, ReduceOp::sum));
}

}  // namespace

void Topology::allreduce(Buffer data, const AllreduceOptions& options, Site site) const {
  check_options(*this, options, data);
  const auto choice = choose(*this, options, data.bytes());
  if (comm_.size() == 1) return;
  const bool plain = options.wire == Dtype::float32 && !data.memory.on_device();
  if (plain && !is_float16(data.dtype) && choice.algorithm->start == &comm::native)
    return comm_.allreduce(data, options.op, site);  // its blocking form has less latency
  check_collective(comm_, {"allreduce", data.count, data.dtype, static_cast<int>(options.op)}, site);
  if (!plain) return run(*start_allreduce(*this, options, data));
  comm_.impl().count(data.bytes());
  run(*start_chosen(*this, options, data, choice));
}

Request Topology::iallreduce(Buffer data, const AllreduceOptions& options, Site site) const {
  check_options(*this, options, data);
  if (comm_.size() == 1) return data.memory.on_device() ? start(device::settled(data.memory)) : Request();
  const Call call{"iallreduce", data.count, data.dtype, static_cast<int>(options.op)};
  if (debugging() && !data.memory.on_device())
    return start(checked(comm_, call, site, [=, *this, name = std::string(options.algorithm)] {
      auto mine = options;
      mine.algorithm = name;
      return start_allreduce(*this, mine, data);
    }));
  check_collective(comm_, call, site);
  return start(start_allreduce(*this, options, data));
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
  const AllreduceOptions options{.op = op};
  std::int64_t bytes = 0;
  for (const auto& one : data) {
    check_options(*this, options, one);
    bytes += one.bytes();
  }
  if (comm_.size() == 1) return {};
  const Call call{"iallreduce of a list", bytes, Dtype::uint8, static_cast<int>(op)};
  const auto start_all = [options](const Topology& topology, std::span<const Buffer> list) {
    return in_buckets(list, [&](const Buffer& bucket) { return start_allreduce(topology, options, bucket); });
  };
  const auto on_device = [](const Buffer& one) { return one.memory.on_device(); };
  if (debugging() && std::ranges::none_of(data, on_device))
    return start(checked(comm_, call, site,
                         [=, *this, list = std::vector(data.begin(), data.end())] { return start_all(*this, list); }));
  check_collective(comm_, call, site);
  return start(start_all(*this, data));
}

void Topology::reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  check_counts("reduce_scatter", *this, counts, data.count);
  check_collective(comm_, {"reduce_scatter", data.count, data.dtype, static_cast<int>(op)}, site);
  if (data.memory.on_device()) return device::reduce_scatter(*this, data, counts, op);
  reduce_to_owners("reduce_scatter", *this, data, parts_of(counts), op);
}

void Topology::reduce(Buffer data, int root, ReduceOp op, Site site) const {
  check_root("reduce", *this, root);
  check_collective(comm_, {"reduce", data.count, data.dtype, root}, site);
  if (data.memory.on_device()) return device::reduce(*this, data, root, op);
  reduce_to_owners("reduce", *this, data, all_of(*this, root, data.count), op);
}

void Topology::allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  check_counts("allgather", *this, counts, all.count);
  check_collective(comm_, {"allgather", all.count, all.dtype}, site);
  if (all.memory.on_device() || mine.memory.on_device()) return device::allgather(*this, mine, all, counts);
  const auto parts = parts_of(counts);
  const auto first = parts[static_cast<std::size_t>(comm_.rank())].first;
  auto* const place = static_cast<std::byte*>(all.data) + first * static_cast<std::int64_t>(itemsize(all.dtype));
  if (mine.data != place && mine.count > 0) std::memcpy(place, mine.data, static_cast<std::size_t>(mine.bytes()));
  gather_from_owners(*this, all, parts);
}

void Topology::broadcast(Buffer data, int root, Site site) const {
  check_root("broadcast", *this, root);
  check_collective(comm_, {"broadcast", data.count, data.dtype, root}, site);
  if (data.memory.on_device()) return device::broadcast(*this, data, root);
  gather_from_owners(*this, data, all_of(*this, root, data.count));
}

}  // namespace heatpp

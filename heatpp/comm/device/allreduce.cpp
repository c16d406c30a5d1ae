#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/in_stream.hpp>
#include <heatpp/comm/device/pipeline.hpp>

#include <algorithm>

namespace heatpp::device {
namespace {

using detail::Operation;
using detail::Schedule;
using detail::Tree;

// Small compared with the data, so that all stages soon work; large compared with the start of a copy.
constexpr std::int64_t chunks = 16, smallest_chunk_bytes = 1 << 20, largest_chunk_bytes = 16 << 20;

/// Returns a multiple of the number of ranks of a node if possible.
std::int64_t chunk_of(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
  const auto ranks = static_cast<std::int64_t>(topology.state().largest_node);
  const auto bytes = options.chunk_bytes > 0
                         ? options.chunk_bytes
                         : std::clamp(data.bytes() / chunks, smallest_chunk_bytes, largest_chunk_bytes);
  return (bytes / item + ranks - 1) / ranks * ranks + (bytes < item ? ranks : 0);
}

/// NCCL works inside the nodes, as if all their ranks were side by side.
Tree with_flat_nodes(const Tree& tree, int node_level) {
  if (tree.level() <= node_level) return tree.is_leaf() ? tree : detail::flat_tree(tree, node_level);
  return with_children(tree, [=](const Tree& child) { return with_flat_nodes(child, node_level); });
}

/// Returns the steps of BlueConnect outside the nodes.
Schedule between_nodes(const Topology& topology, std::int64_t count, Wire wire) {
  const auto level = topology.state().node_level;
  const auto tree = detail::without_single_children(with_flat_nodes(topology.tree(), level));
  const auto rank = topology.comm().rank();
  auto steps = wire == Wire::float32 ? detail::allreduce_steps(tree, {0, count}, rank, {})
                                     : detail::coded_allreduce_steps(tree, {0, count}, rank);
  std::erase_if(steps, [&](const detail::Step& step) { return step.level <= level; });
  return {{{std::make_shared<const detail::Steps>(std::move(steps)), 0}}};
}

/// Makes the messages of a whole all-reduce: as asked for, or BlueConnect if that does not consist of messages.
using Make = Schedule (*)(const Tree& tree, const comm::Job& job);
Make between_all(const Topology& topology, const AllreduceOptions& options, std::int64_t bytes) {
  if (options.wire != Wire::float32) return &comm::coded_blueconnect;
  if (options.reproducible) return &comm::ordered;
  const auto* algorithm = comm::find_algorithm(options.algorithm, topology, bytes).algorithm;
  return algorithm->schedule ? algorithm->schedule : &comm::blueconnect;
}

std::unique_ptr<Operation> start_pipeline(const Topology& topology, const AllreduceOptions& options, const Buffer& data,
                                          const Backends& backends) {
  const auto& messages = Resources::of(topology.comm(), data.memory).messages(topology.comm());
  const auto all = backends.node == Backend::nccl ? nullptr : between_all(topology, options, data.bytes());
  auto* residual = options.residual.empty() ? nullptr : options.residual.data();
  const auto cross = [=, op = options.op, wire = options.wire](Buffer chunk) mutable {
    const detail::Coding coding{wire, residual};
    if (residual) residual += chunk.count;
    return detail::rounded_once(chunk, op, messages.size(), [&](Buffer wide) -> std::unique_ptr<Operation> {
      const comm::Job job{messages.rank(), wide.count, static_cast<std::int64_t>(itemsize(wide.dtype))};
      auto schedule = all ? all(topology.tree(), job) : between_nodes(topology, wide.count, wire);
      return std::make_unique<detail::Execution>(messages, std::move(schedule), wide, op, coding);
    });
  };
  return pipeline(topology, data, options.op, {backends, chunk_of(topology, options, data), cross});
}

/// Starts NCCL for all ranks: as it sees fit, or on request level by level.
std::unique_ptr<Operation> start_nccl(const Topology& topology, const AllreduceOptions& options, const Buffer& data) {
  const auto& comm = topology.comm();
  auto& state = topology.state();
  const auto share = [&](int ranks) { return data.bytes() - data.bytes() / ranks; };
  const auto outermost = state.nodes > 1 ? static_cast<int>(topology.levels().size()) - 1 : state.node_level;
  if (options.algorithm != "blueconnect" || !topology.uniform() || state.nodes == 1 || state.largest_node == 1) {
    state.count(comm, outermost, 2 * share(comm.size()));
    auto& group = Resources::of(comm, data.memory).nccl(comm);
    const auto put = [data, &group, op = options.op](const auto& stream) { group.allreduce(data, op, stream); };
    return in_stream(std::span(&data.memory, 1), {{&group, put}});
  }
  const auto &node = topology.node(), &across = topology.across();
  auto &inside = Resources::of(node, data.memory).nccl(node),
       &outside = Resources::of(across, data.memory).nccl(across);
  std::vector<std::int64_t> counts;
  std::vector<detail::Range> parts;
  for (int r = 0; r < node.size(); ++r) {
    parts.push_back(
        detail::part_of({0, data.count}, static_cast<std::size_t>(r), static_cast<std::size_t>(node.size())));
    counts.push_back(parts.back().count);
  }
  const auto part = parts[static_cast<std::size_t>(node.rank())];
  auto* const at = static_cast<std::byte*>(data.data) + part.first * static_cast<std::int64_t>(itemsize(data.dtype));
  const Buffer mine{at, part.count, data.dtype, data.memory};
  state.count(comm, state.node_level, 2 * (data.bytes() - mine.bytes()));
  state.count(comm, outermost, 2 * (mine.bytes() - mine.bytes() / across.size()));
  // The mean over equal nodes of their means is the mean.
  const auto op = options.op;
  return in_stream(std::span(&data.memory, 1),
                   {{&inside, [=, &inside](const auto& stream) { inside.reduce_scatter(data, counts, op, stream); }},
                    {&outside, [=, &outside](const auto& stream) { outside.allreduce(mine, op, stream); }},
                    {&inside, [=, &inside](const auto& stream) { inside.allgather(data, counts, stream); }}});
}

bool asks_for_other_than_blueconnect(const AllreduceOptions& options) {
  return options.reproducible || !(options.algorithm.empty() || options.algorithm == "blueconnect");
}

}  // namespace

std::unique_ptr<Operation> start_allreduce(const Topology& topology, const AllreduceOptions& options,
                                           const Buffer& data) {
  if (data.count == 0) return std::make_unique<detail::Done>();
  auto [node, across] = backends_of("allreduce", topology, data.memory);
  const auto& state = topology.state();
  if (asks_for_other_than_blueconnect(options)) node = Backend::staged;
  if (state.nodes == 1) across = node;
  const bool coded = options.wire != Wire::float32;
  if (coded && (node != Backend::nccl || state.nodes == 1)) node = Backend::staged;
  node = able(node, data.dtype, options.op);
  across = coded ? Backend::staged : able(across, data.dtype, options.op);
  if (node == Backend::nccl && across == Backend::nccl) return start_nccl(topology, options, data);
  if (node == Backend::mpi) return start_flat_allreduce(topology.comm(), data, options.op);
  const bool crosses_by_mpi = node == Backend::nccl && across == Backend::mpi && topology.uniform();
  return start_pipeline(topology, options, data, {node, crosses_by_mpi ? Backend::mpi : Backend::staged});
}

}  // namespace heatpp::device

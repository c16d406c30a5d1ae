#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/numbers/numbers.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/shared/by_nodes.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace heatpp {

using namespace detail;

namespace {

/// Finds the groups of nodes that have several ranks.
void find_groups(const Communicator& comm, Topology::State& state) {
  if (state.nodes == 1 || state.largest_node == 1 || !state.settings->shared_memory) return;
  const auto node = path_to(state.tree, comm.rank())[static_cast<std::size_t>(state.node_level)];
  state.groups = find_node_groups(comm, node.rank_at(0));
}

/// Returns this rank's channels; nothing if it is alone on its node, or if there is no memory.
std::shared_ptr<Channels> make_channels(const Topology& topology) {
  const auto& comm = topology.comm();
  if (topology.state().nodes == 1) {
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(comm.size()));
    std::iota(ranks.begin(), ranks.end(), std::int64_t{0});
    return Channels::make(comm, std::move(ranks));
  }
  const auto& node = topology.state().groups->node;
  return node.size() == 1 ? nullptr : Channels::make(node, numbers_of_ranks(node, comm.rank()));
}

}  // namespace

Topology::State::State(const Machine& machine, std::shared_ptr<const Settings> by)
    : tree(machine.tree), node_level(machine.node_level), hash(hash_of(numbers_of(tree))), settings(std::move(by)) {
  const auto found = nodes_at(tree, node_level);
  nodes = found.size();
  for (const auto& run : found.runs()) largest_node = std::max(largest_node, run.first.ranks());
}

void Topology::State::count(const Communicator& comm, int level, std::int64_t bytes) const {
  auto& counted = *comm.impl().traffic;
  auto& traffic = counted[std::min(static_cast<std::size_t>(level), counted.size() - 1)];
  ++traffic.messages;
  traffic.bytes += bytes;
}

void detail::find_topology(const Communicator& comm, const TopologyOptions& options) {
  auto& impl = comm.impl();
  const auto machine = find_machine(comm, options, impl.settings->topology);
  auto state = std::make_shared<Topology::State>(machine, impl.settings);
  find_groups(comm, *state);
  impl.machine = std::move(state);
}

Topology detail::topology_of(const Communicator& comm) {
  auto& impl = comm.impl();
  if (!impl.machine)
    impl.machine = std::make_shared<Topology::State>(Machine{grid_of(std::array{impl.size})}, impl.settings);
  return {comm, impl.machine};
}

void detail::share_state(const Topology& topology) {
  const auto& comm = topology.comm();
  const auto own = topology_of(comm);
  auto& state = topology.state();
  if (own.state().hash == state.hash || (own.state().nodes == 1 && state.nodes == 1)) {
    find_memory(own);
    state.groups = own.state().groups;
    state.memory = own.state().memory;
    if (state.memory.level >= 0) state.memory.level = state.node_level;
    state.asked_for_memory = true;
  } else find_groups(comm, state);
}

void detail::find_memory(const Topology& topology) {
  auto& state = topology.state();
  if (std::exchange(state.asked_for_memory, true)) return;
  if (state.largest_node == 1 || (state.nodes > 1 && !state.groups)) return;
  auto channels = make_channels(topology);
  const bool alone = state.nodes > 1 && state.groups->node.size() == 1;
  std::int64_t all = channels || alone;
  run(small_allreduce(topology.comm(), {&all, 1, Dtype::int64}, ReduceOp::min, "Communicator"));
  if (all) state.memory = {state.node_level, std::move(channels)};
}

void detail::find_memory_for(const Topology& topology, std::int64_t bytes) {
  if (bytes >= decompose_from_bytes) find_memory(topology);
}

bool detail::by_segment(const Topology& topology) {
  return shares_memory(topology.comm()) && topology.state().nodes == 1;
}
bool detail::by_segment(const Communicator& comm) {
  return shares_memory(comm) && (!comm.impl().machine || comm.impl().machine->nodes == 1);
}

}  // namespace heatpp

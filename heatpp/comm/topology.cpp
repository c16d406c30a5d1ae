#include <heatpp/comm/topology.hpp>

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/calibrate.hpp>
#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/machine/places.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/device/identity.hpp>

#include <algorithm>
#include <limits>

namespace heatpp {
namespace {

using detail::Tree;

std::string level_name(int level, std::size_t count, int node_level) {
  if (level < node_level) return "package";
  if (level == node_level) return "node";
  if (level + 1 == static_cast<int>(count)) return "cluster";
  return level == node_level + 1 ? "rack" : detail::formatted("level {}", level);
}

/// The first of some ranks, and the place of this rank among them.
struct Group {
  int first;
  std::size_t place;
};

/// Returns the group of the ranks that have `rank`'s number in the children of `tree`.
Group group_at(const Tree& tree, int rank) {
  const auto mine = *tree.child_with(rank);
  const auto number = tree.child(mine).position_of(rank);
  std::optional<int> first;
  std::size_t index = 0, before = 0;
  for (const auto& run : tree.runs()) {
    if (number < run.first.ranks()) {
      if (!first) first = run.first.rank_at(number);
      before += std::min(run.count, mine - std::min(index, mine));
    }
    index += run.count;
  }
  return {*first, before};
}

Communicator split_off(const Communicator& comm, const Group& group) {
  return *comm.split(group.first, static_cast<int>(group.place));
}

/// Makes the groups of the levels, of the ranks of this node, and of those with its number in each node.
void make_levels(const Communicator& comm, Topology::State& state) {
  const auto rank = comm.rank();
  const auto path = detail::path_to(state.tree, rank);
  for (std::size_t level = 0; level < path.size(); ++level) {
    const auto name = level_name(static_cast<int>(level), path.size(), state.node_level);
    state.levels.push_back({name, split_off(comm, group_at(path[level], rank))});
  }
  const auto& mine = path[static_cast<std::size_t>(state.node_level)];
  state.node =
      state.node_level == 0 ? state.levels.front().group : split_off(comm, {mine.rank_at(0), mine.position_of(rank)});
  state.across = path.size() == static_cast<std::size_t>(state.node_level) + 2
                     ? state.levels.back().group
                     : split_off(comm, group_at(detail::nodes_at(state.tree, state.node_level), rank));
}

/// Returns a text like "0-3, 8", or only the first ranks of many.
std::string text_of(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    auto last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += detail::formatted("{}{}", text.empty() ? "" : ", ", ranks[first]);
    if (last > first) text += detail::formatted("-{}", ranks[last]);
    first = last + 1;
  }
  return text;
}

void draw(const Tree& tree, const std::string& indent, const Topology& topology, std::string& text) {
  for (std::size_t c = 0; c < tree.size(); ++c) {
    const auto child = tree.child(c);
    const bool last = c + 1 == tree.size();
    const auto& name = topology.levels()[static_cast<std::size_t>(child.level())].name;
    text += detail::formatted("{}{} {} {}", indent, last ? "└─" : "├─", name, c);
    if (child.level() == 0) text += detail::formatted(": {}\n", text_of(ranks_of(child)));
    else {
      text += "\n";
      draw(child, indent + (last ? "   " : "│  "), topology, text);
    }
  }
}

}  // namespace

Topology::Topology(const Communicator& comm, const TopologyOptions& options) : comm_(comm) {
  const auto settings = comm.impl().part ? comm.impl().settings : detail::settings_of_rank_0(comm);
  if (!settings->allreduce.empty()) static_cast<void>(comm::algorithm(settings->allreduce));
  state_ = std::make_shared<State>(detail::find_machine(comm, options, settings->topology), settings);
  comm.impl().settings = settings;
  make_levels(comm, *state_);
  state_->devices = device::find_devices(comm);
  detail::share_state(*this);
  detail::find_memory(*this);
  if (const auto& file = settings->calibration; !file.empty() && comm.size() > 1)
    detail::calibrate_by_file(*this, file);
}

const std::vector<Level>& Topology::levels() const { return state_->levels; }
const Communicator& Topology::node() const { return *state_->node; }
const Communicator& Topology::across() const { return *state_->across; }
bool Topology::uniform() const { return state_->tree.alike(); }
const Tree& Topology::tree() const { return state_->tree; }

std::vector<LevelTraffic> Topology::traffic() const {
  std::vector<LevelTraffic> all;
  const auto& counted = *comm_.impl().traffic;
  for (std::size_t level = 0; level < std::min(levels().size(), counted.size()); ++level) {
    const auto& t = counted[level];
    all.push_back({levels()[level].name, t.messages, t.bytes, static_cast<double>(t.nanoseconds) * 1e-9});
  }
  return all;
}

const Calibration& Topology::calibration() const { return state_->calibration; }

std::string comm::describe(const Topology& topology) {
  std::string text = detail::formatted("{} ranks\n", topology.comm().size());
  for (auto level = topology.levels().rbegin(); level != topology.levels().rend(); ++level)
    text += detail::formatted(
        "{:>10}: groups of {}{}{}\n", level->name, level->group.size(), topology.uniform() ? "" : " (nodes differ)",
        topology.levels().rend() - level > topology.state().memory.level + 1 ? "" : ", by shared memory");
  draw(topology.tree(), "", topology, text);
  const auto& devices = topology.state().devices;
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    text += detail::formatted("    rank {}: {}\n", rank, device::device_text(devices[rank]));
  for (const auto& cost : topology.calibration().costs)
    text +=
        detail::formatted("{:>10}: {:.1f} us, {:.2f} GB/s\n", cost.level, cost.latency * 1e6, cost.bandwidth * 1e-9);
  for (const auto& choice : topology.calibration().choices)
    text += choice.up_to_bytes == std::numeric_limits<std::int64_t>::max()
                ? detail::formatted("{:>10}: {}\n", "above", choice.algorithm)
                : detail::formatted("to {:>7.0f} KiB: {}\n", static_cast<double>(choice.up_to_bytes) / 1024,
                                    choice.algorithm);
  return text;
}

}  // namespace heatpp

#pragma once

#include <heatpp/comm/detail/machine/channels.hpp>
#include <heatpp/comm/detail/machine/places.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/cache.hpp>
#include <heatpp/comm/detail/schedule/tree.hpp>
#include <heatpp/comm/detail/settings.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp {

namespace detail {

struct NodeGroups;

}  // namespace detail

/// The state that copies of a topology share.
struct Topology::State {
  detail::Tree tree;
  std::size_t nodes = 1;         ///< of the whole machine, as `largest_node`: equal on all ranks, unlike groups' sizes
  std::size_t largest_node = 1;  ///< in ranks
  int node_level = 0;            ///< of the network inside a node; lower levels are parts of a node
  std::uint64_t hash = 0;        ///< of the tree
  std::shared_ptr<const detail::NodeGroups> groups = nullptr;  ///< if ranks of several nodes share memory in each
  detail::ScheduleMemory memory = {};
  bool asked_for_memory = false;
  std::vector<std::int64_t> devices = {};  ///< device_id() of each rank; empty if none has a device
  Calibration calibration = {};
  std::shared_ptr<const detail::Settings> settings = nullptr;
  detail::ScheduleCache schedules = {};
  // Only topologies that a program makes have these.
  std::vector<Level> levels = {};
  std::optional<Communicator> node = std::nullopt, across = std::nullopt;

  State(const detail::Machine& machine, std::shared_ptr<const detail::Settings> by);
  /// Notes that this rank sent these bytes on a level, for transports that do not count themselves.
  void count(const Communicator& comm, int level, std::int64_t bytes) const;
};

namespace detail {

/// Gives a communicator its topology, by the options, HEATPP_TOPOLOGY or the machine. Collective.
void find_topology(const Communicator& comm, const TopologyOptions& options = {});
/// Lets a new topology use what its communicator's own has, if the machine is the same. Collective.
void share_state(const Topology& topology);
/// Makes memory for the schedules of a topology, at the first call. Collective and blocking, so only blocking calls may
/// ask for it: before one has, the others use messages.
void find_memory(const Topology& topology);
/// Does so if this many bytes are worth it.
void find_memory_for(const Topology& topology, std::int64_t bytes);
/// Copies `data` of the root to the others, by the levels of the topology.
[[nodiscard]] std::unique_ptr<Operation> start_broadcast(const Topology& topology, Buffer data, int root,
                                                         const char* call, const ScheduleMemory& memory);
/// Whether the collectives go through the segment of memory that all ranks share. A topology of several nodes says that
/// they share none, on any machine.
[[nodiscard]] bool by_segment(const Topology& topology);
[[nodiscard]] bool by_segment(const Communicator& comm);

}  // namespace detail

}  // namespace heatpp

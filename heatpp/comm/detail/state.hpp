#pragma once

#include <heatpp/comm/detail/machine/channels.hpp>
#include <heatpp/comm/detail/schedule/cache.hpp>
#include <heatpp/comm/detail/schedule/tree.hpp>
#include <heatpp/comm/detail/settings.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp {

/// The state that copies of a topology share.
struct Topology::State {
  detail::Tree tree;
  std::size_t nodes = 1;         ///< of the whole machine, as `largest_node`: equal on all ranks, unlike groups' sizes
  std::size_t largest_node = 1;  ///< in ranks
  int node_level = 0;            ///< of the network inside a node; lower levels are parts of a node
  int memory_level = -1;         ///< node_level if the ranks of every node share memory; else -1
  std::shared_ptr<detail::Channels> channels = nullptr;  ///< of this rank's node, if they do
  std::vector<std::int64_t> devices = {};                ///< device_id() of each rank; empty if none has a device
  Calibration calibration;
  std::shared_ptr<const detail::Settings> settings;
  detail::ScheduleCache schedules;
  std::uint64_t hash = 0;  ///< of the tree

  /// Notes that this rank sent these bytes on a level, for transports that do not count themselves.
  void count(const Communicator& comm, int level, std::int64_t bytes) const;
};

}  // namespace heatpp

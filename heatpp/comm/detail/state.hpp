#pragma once

#include <heatpp/comm/detail/machine/channels.hpp>
#include <heatpp/comm/detail/schedule/cache.hpp>
#include <heatpp/comm/detail/schedule/tree.hpp>
#include <heatpp/comm/detail/settings.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp {

/// What copies of a topology share.
struct Topology::State {
  detail::Tree tree;
  std::size_t nodes = 1;         ///< of the whole machine, as `largest_node`: equal on all ranks, unlike groups' sizes
  std::size_t largest_node = 1;  ///< in ranks
  int node_level = 0;            ///< of the network inside a node; what is below it are parts of one
  int memory_level = -1;         ///< the same where the ranks of all nodes share memory with those of their own
  std::shared_ptr<detail::Channels> channels = nullptr;  ///< of this rank's node, then
  std::vector<std::int64_t> devices = {};  ///< of each rank, as device_id() has them; empty where none has one
  Calibration calibration;
  std::shared_ptr<const detail::Settings> settings;
  detail::ScheduleCache schedules;
  std::uint64_t hash = 0;  ///< of the tree

  /// Notes that this rank sent so much on a level by means that do not count themselves.
  void count(const Communicator& comm, int level, std::int64_t bytes) const;
};

}  // namespace heatpp

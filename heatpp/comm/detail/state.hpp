#pragma once

#include <heatpp/comm/detail/tree.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp {

/// What copies of a topology share.
struct Topology::State {
  detail::Tree tree;
  std::size_t nodes = 1;         ///< of the whole machine, as `largest_node`: equal on all ranks, unlike groups' sizes
  std::size_t largest_node = 1;  ///< in ranks
  Calibration calibration;
};

}  // namespace heatpp

#pragma once

#include <heatpp/comm/detail/tree.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp {

/// What copies of a topology share.
struct Topology::State {
  detail::Tree tree;
};

}  // namespace heatpp

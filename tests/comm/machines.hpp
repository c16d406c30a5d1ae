#pragma once

#include <heatpp/comm/topology.hpp>

/// Returns all factorings in up to three levels, cyclic and uneven nodes, and uneven racks with ranks in any order.
inline std::vector<heatpp::TopologyOptions> machines(int p) {
  std::vector<heatpp::TopologyOptions> all{{.shape = {p}}};
  for (int a = 1; a <= p; ++a)
    for (int b = 1; b <= p; ++b)
      if (p % (a * b) == 0 && a * b != p) all.push_back({.shape = {p / (a * b), a, b}});
  for (int a = 2; a < p; ++a)
    if (p % a == 0) all.push_back({.shape = {p / a, a}});
  all.push_back({.node_of = [](int rank) { return 7 - rank % 2; }});
  all.push_back({.node_of = [](int rank) { return rank == 0 ? 0 : 1; }});
  all.push_back({.place_of = [](int rank) { return std::vector{rank * 5 % 7 % 2, rank * 3 % 5}; }});
  return all;
}

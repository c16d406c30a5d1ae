#pragma once

#include <cstdint>
#include <optional>

namespace heatpp::nn {

/// The nodes that a node averages its weights with.
enum class Partners {
  all,   ///< every other node
  pairs  ///< one other node at a time, by `partner_of`
};

/// Returns the node with which `node` averages at synchronisation `turn`, the same for both; none if it is the odd one
/// out. A pure function. Powers of two are hypercubes: after log2(nodes) turns every node has a part of every other.
/// Other numbers get a random matching from the turn. One turn halves the expected square of the distance from the mean
/// (Boyd et al. 2006, Randomized gossip algorithms; Kolehmainen et al. 2025, NoLoCo).
[[nodiscard]] std::optional<int> partner_of(int node, int nodes, std::int64_t turn);

}  // namespace heatpp::nn

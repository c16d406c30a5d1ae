#pragma once

#include <cstdint>
#include <heatpp/comm/topology.hpp>
#include <span>
#include <vector>

namespace heatpp::detail {

/// Returns the seconds for which a chunk of this many bytes keeps each level busy, there and back, if it goes through
/// the levels in that order. Each level works on what the levels before it left (Cho et al., BlueConnect, MLSys 2019).
/// `extents` and `costs` are those of the levels of several parts, innermost first.
[[nodiscard]] std::vector<double> loads_of(std::span<const std::size_t> extents,
                                           std::span<const Calibration::Cost> costs, std::span<const int> order,
                                           std::int64_t bytes);

/// Orders of the levels for chunks that follow each other.
struct BalancedOrders {
  std::vector<std::vector<int>> orders;  ///< distinct ones
  std::vector<std::size_t> of_chunks;    ///< index into `orders`
};
/// Picks for each chunk the order that keeps the busiest level least busy (Rashidi et al., Themis, ISCA 2022).
[[nodiscard]] BalancedOrders balanced_orders(std::span<const std::size_t> extents,
                                             std::span<const Calibration::Cost> costs, std::int64_t chunk_bytes,
                                             std::size_t chunks);

}  // namespace heatpp::detail

#pragma once

#include <cstdint>
#include <heatpp/comm/topology.hpp>
#include <span>
#include <vector>

namespace heatpp::detail {

/// The seconds for which a chunk of so many bytes keeps each level busy, there and back, where it goes through the
/// levels in that order: each works on what those before it have left (Cho et al., BlueConnect, MLSys 2019). `extents`
/// and `costs` are those of the levels of several parts, innermost first.
[[nodiscard]] std::vector<double> loads_of(std::span<const std::size_t> extents,
                                           std::span<const Calibration::Cost> costs, std::span<const int> order,
                                           std::int64_t bytes);

/// Orders of the levels for chunks that follow each other.
struct BalancedOrders {
  std::vector<std::vector<int>> orders;  ///< that occur
  std::vector<std::size_t> of_chunks;    ///< numbers of these
};
/// Chunk by chunk the order after which the busiest level is least busy (Rashidi et al., Themis, ISCA 2022).
[[nodiscard]] BalancedOrders balanced_orders(std::span<const std::size_t> extents,
                                             std::span<const Calibration::Cost> costs, std::int64_t chunk_bytes,
                                             std::size_t chunks);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Where the part of one rank lies in the whole that all ranks make.
struct PlaceInWhole {
  std::int64_t offset = 0;  ///< the sum of the counts of the ranks before this one
  std::int64_t total = 0;   ///< the sum of the counts of all ranks
};

/// Returns where the `count` elements of this rank lie if those of all ranks follow each other in rank order.
/// Collective: each rank sends at most log2 P + 2 messages of 8 or 16 bytes, and holds nothing for the other ranks.
/// Sums wrap.
[[nodiscard]] PlaceInWhole place_in_whole(const Communicator& comm, std::int64_t count,
                                          Communicator::Site site = Communicator::Site::current());

}  // namespace heatpp::detail

#pragma once

#include <functional>
#include <heatpp/core/detail/cuts/ranks_over.hpp>

namespace heatpp::detail {

/// Returns the indices of an axis that a rank needs, in their order; those outside 0 .. extent - 1 have no element.
using Wanted = std::function<std::vector<std::int64_t>(int rank)>;

/// The wanted indices that one rank holds: their places in the list, and the indices less that rank's first.
struct HeldPart {
  int rank;
  std::vector<std::int64_t> places, indices;
};

/// What a rank gets and gives, for the ranks that matter only.
struct GhostLists {
  std::int64_t count;              ///< how many indices this rank wants
  std::vector<HeldPart> arriving;  ///< what this rank wants, by the ranks that hold it, itself among them
  std::vector<HeldPart> leaving;   ///< what other ranks want of this one
};

/// Returns the lists of rank `me`, in the order of the ranks. `takers` are all ranks that may want something of it, and
/// few others: time and memory grow with these, what is wanted, and log2 P of an uneven cut. Local.
[[nodiscard]] GhostLists ghost_lists(const Cut& cut, int me, const Wanted& wanted, std::vector<RankRange> takers);

}  // namespace heatpp::detail

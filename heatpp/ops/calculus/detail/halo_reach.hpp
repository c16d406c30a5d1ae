#pragma once

#include <heatpp/core/detail/cuts/ranks_over.hpp>
#include <heatpp/ops/calculus/halo.hpp>

namespace heatpp::detail {

/// Rows before a block and behind it.
struct Reach {
  std::int64_t before = 0, behind = 0;
};

/// Returns how many ghosts the block of `rank` gets.
[[nodiscard]] Reach wanted_reach(const Cut& cut, int rank, const HaloOptions& options);
/// Returns how many of these it fetches. Beyond an end without a limit the first row outside repeats.
[[nodiscard]] Reach fetched_reach(const Cut& cut, int rank, const HaloOptions& options);
/// Returns the indices that `rank` fetches; -1 if a value stands for one.
[[nodiscard]] std::vector<std::int64_t> halo_rows(const Cut& cut, int rank, const HaloOptions& options);
/// Returns the ranks that may fetch rows of `rank`: those whose blocks begin or end within the width of its block, also
/// across the ends of the axis.
[[nodiscard]] std::vector<RankRange> halo_takers(const Cut& cut, int rank, const HaloOptions& options);

}  // namespace heatpp::detail

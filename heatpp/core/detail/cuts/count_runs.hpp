#pragma once

#include <heatpp/core/detail/cuts/cut.hpp>
#include <ranges>

namespace heatpp::detail {

/// Consecutive ranks that hold `count` indices each.
struct CountRun {
  int first, last;
  std::int64_t count;
  [[nodiscard]] int ranks() const { return last - first; }
};

/// Calls f(run) for runs that make up the cut, in rising order: at most two if three numbers tell the cut, else one for
/// each rank.
template <class F>
void for_each_count_run(const Cut& cut, F f) {
  if (!cut.is_rule()) {
    for (int rank = 0; rank < cut.ranks(); ++rank) f(CountRun{rank, rank + 1, cut.extent(rank)});
    return;
  }
  const auto ranks = std::views::iota(0, cut.ranks());
  const auto most = cut.extent(0);
  const auto turn = static_cast<int>(
      std::ranges::partition_point(ranks, [&](int rank) { return cut.extent(rank) == most; }) - ranks.begin());
  f(CountRun{0, turn, most});
  if (turn < cut.ranks()) f(CountRun{turn, cut.ranks(), cut.extent(turn)});
}

/// Returns how many indices the rank with the most holds: at once if three numbers tell the cut, else in one pass over
/// the ranks.
[[nodiscard]] inline std::int64_t most_indices(const Cut& cut) {
  if (cut.is_rule()) return cut.extent(0);
  std::int64_t most = 0;
  for (int rank = 0; rank < cut.ranks(); ++rank) most = std::max(most, cut.extent(rank));
  return most;
}

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/detail/cuts/cut.hpp>

namespace heatpp::detail {

/// The ranks first to before last.
struct RankRange {
  int first = 0, last = 0;
  [[nodiscard]] bool empty() const { return first >= last; }
};

/// Returns the ranks from the first to the last that hold any of the indices first to before last, which may lie beyond
/// the ends of the cut. Ranks without indices may be between them.
[[nodiscard]] RankRange ranks_over(const Cut& cut, std::int64_t first, std::int64_t last);

/// Calls f(rank) once for each rank in any of the ranges, in rising order.
template <class F>
void for_each_rank(std::vector<RankRange> ranges, F f) {
  std::ranges::sort(ranges, {}, &RankRange::first);
  int next = 0;
  for (const auto& range : ranges) {
    for (auto rank = std::max(next, range.first); rank < range.last; ++rank) f(rank);
    next = std::max(next, range.last);
  }
}

}  // namespace heatpp::detail

#include <heatpp/ops/calculus/detail/halo_reach.hpp>

namespace heatpp::detail {
namespace {

/// Returns the index in 0 .. n - 1 that replaces `i`, or -1.
std::int64_t stand_in(std::int64_t i, std::int64_t n, Boundary boundary) {
  if (i >= 0 && i < n) return i;
  switch (boundary) {
    case Boundary::periodic: return (i + n) % n;
    case Boundary::edge: return i < 0 ? 0 : n - 1;
    case Boundary::reflect: return i < 0 ? -i : 2 * (n - 1) - i;
    default: return -1;
  }
}

bool has_limit(Boundary boundary) { return boundary == Boundary::periodic || boundary == Boundary::reflect; }

Reach widths_of(const HaloOptions& options) { return {options.width, options.behind.value_or(options.width)}; }

}  // namespace

Reach wanted_reach(const Cut& cut, int rank, const HaloOptions& options) {
  const auto all = widths_of(options);
  if (cut.extent(rank) == 0) return {};
  if (options.boundary != Boundary::none) return all;
  return {std::min(all.before, cut.first(rank)), std::min(all.behind, cut.extent() - cut.last(rank))};
}

Reach fetched_reach(const Cut& cut, int rank, const HaloOptions& options) {
  const auto wanted = wanted_reach(cut, rank, options);
  if (has_limit(options.boundary)) return wanted;
  return {std::min(wanted.before, cut.first(rank) + 1), std::min(wanted.behind, cut.extent() - cut.last(rank) + 1)};
}

std::vector<std::int64_t> halo_rows(const Cut& cut, int rank, const HaloOptions& options) {
  const auto [before, behind] = fetched_reach(cut, rank, options);
  const auto first = cut.first(rank), last = cut.last(rank), n = cut.extent();
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(before + behind));
  for (auto i = first - before; i < first; ++i) rows.push_back(stand_in(i, n, options.boundary));
  for (auto i = last; i < last + behind; ++i) rows.push_back(stand_in(i, n, options.boundary));
  return rows;
}

std::vector<RankRange> halo_takers(const Cut& cut, int rank, const HaloOptions& options) {
  const auto n = cut.extent(), first = cut.first(rank), last = cut.last(rank);
  const auto widths = widths_of(options);
  const auto before = std::min(widths.before, n), behind = std::min(widths.behind, n);
  std::vector<RankRange> takers{ranks_over(cut, first - behind, first), ranks_over(cut, last, last + before)};
  if (options.boundary == Boundary::periodic) {
    takers.push_back(ranks_over(cut, 0, last + before - n));
    takers.push_back(ranks_over(cut, first - behind + n, n));
  }
  // The mirror image of index i at the first index is -i, and at the last one 2 (n - 1) - i.
  if (options.boundary == Boundary::reflect) {
    takers.push_back(ranks_over(cut, 0, before - first + 1));
    takers.push_back(ranks_over(cut, 2 * n - 1 - behind - last, n));
  }
  return takers;
}

}  // namespace heatpp::detail

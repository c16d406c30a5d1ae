#include <heatpp/ops/calculus/detail/ghost_lists.hpp>

namespace heatpp::detail {
namespace {

/// Returns the wanted indices by the ranks that hold them. A rank is looked up only where the next index is not on the
/// same one.
std::vector<HeldPart> by_rank(const Cut& cut, const std::vector<std::int64_t>& wanted) {
  std::vector<HeldPart> parts;
  std::size_t latest = 0;
  std::int64_t first = 0, last = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto index = wanted[i];
    if (index < 0 || index >= cut.extent()) continue;
    if (index < first || index >= last) {
      const auto rank = cut.owner(index);
      const auto found = std::ranges::lower_bound(parts, rank, {}, &HeldPart::rank);
      latest = static_cast<std::size_t>(found - parts.begin());
      if (found == parts.end() || found->rank != rank) parts.insert(found, HeldPart{rank, {}, {}});
      first = cut.first(rank);
      last = cut.last(rank);
    }
    parts[latest].places.push_back(static_cast<std::int64_t>(i));
    parts[latest].indices.push_back(index - first);
  }
  return parts;
}

/// Returns the wanted indices in first .. last.
HeldPart part_of(int rank, const std::vector<std::int64_t>& wanted, std::int64_t first, std::int64_t last) {
  HeldPart part{rank, {}, {}};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] >= first && wanted[i] < last) {
      part.places.push_back(static_cast<std::int64_t>(i));
      part.indices.push_back(wanted[i] - first);
    }
  return part;
}

}  // namespace

GhostLists ghost_lists(const Cut& cut, int me, const Wanted& wanted, std::vector<RankRange> takers) {
  const auto mine = wanted(me);
  GhostLists lists{std::ssize(mine), by_rank(cut, mine), {}};
  if (cut.extent(me) == 0) return lists;
  for_each_rank(std::move(takers), [&](int peer) {
    if (peer == me) return;
    auto part = part_of(peer, wanted(peer), cut.first(me), cut.last(me));
    if (!part.indices.empty()) lists.leaving.push_back(std::move(part));
  });
  return lists;
}

}  // namespace heatpp::detail

#include <heatpp/comm/allreduce/algorithm.hpp>

#include <algorithm>
#include <bit>

namespace heatpp::comm {
namespace {

using detail::Step;

/// The first operand is that of the rank that comes first.
Step exchange_with(int peer, bool comes_first, detail::Range whole, int level, bool last) {
  Step step{.level = level};
  step.sends.push_back({peer, whole});
  step.sums.push_back({whole, {peer}, comes_first ? std::size_t{0} : std::size_t{1}, last});
  return step;
}

}  // namespace

detail::Schedule doubling(const detail::Tree& tree, const Job& job) {
  const auto ranks = ranks_of(tree);
  const auto me = static_cast<std::size_t>(std::ranges::find(ranks, job.rank) - ranks.begin());
  const auto most = std::bit_floor(ranks.size()), beyond = ranks.size() - most;
  return detail::in_chunks(job.count, job.count, [&](detail::Range whole, std::size_t) {
    // If the number of ranks is no power of two, the first ranks form pairs, and one of each pair pauses.
    const bool paired = me < 2 * beyond, sits_out = paired && me % 2 == 1;
    const auto place = paired ? me / 2 : me - beyond;
    const auto rank_at = [&](std::size_t at) { return ranks[at < beyond ? 2 * at : at + beyond]; };
    detail::Steps steps;
    if (sits_out) {
      steps.push_back({.level = tree.level, .sends = {{ranks[me - 1], whole}}});
      steps.push_back({.level = tree.level, .receives = {{ranks[me - 1], whole}}});
      return steps;
    }
    if (paired) steps.push_back({.level = tree.level, .sums = {{whole, {ranks[me + 1]}}}});
    for (std::size_t distance = 1; distance < most; distance *= 2) {
      const auto other = place ^ distance;
      steps.push_back(exchange_with(rank_at(other), place < other, whole, tree.level, 2 * distance == most));
    }
    if (paired) steps.push_back({.level = tree.level, .sends = {{ranks[me + 1], whole}}});
    return steps;
  });
}

}  // namespace heatpp::comm

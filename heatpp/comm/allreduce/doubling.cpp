#include <heatpp/comm/allreduce/algorithm.hpp>

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
  const auto level = tree.level();
  const auto me = tree.position_of(job.rank);
  const auto most = std::bit_floor(tree.ranks()), beyond = tree.ranks() - most;
  return detail::in_chunks(job.count, job.count, [&](detail::Range whole, std::size_t) {
    // If the number of ranks is no power of two, the first ranks form pairs, and one of each pair pauses.
    const bool paired = me < 2 * beyond, sits_out = paired && me % 2 == 1;
    const auto place = paired ? me / 2 : me - beyond;
    const auto rank_at = [&](std::size_t at) { return tree.rank_at(at < beyond ? 2 * at : at + beyond); };
    detail::Steps steps;
    if (sits_out) {
      steps.push_back({.level = level, .sends = {{tree.rank_at(me - 1), whole}}});
      steps.push_back({.level = level, .receives = {{tree.rank_at(me - 1), whole}}});
      return steps;
    }
    if (paired) steps.push_back({.level = level, .sums = {{whole, {tree.rank_at(me + 1)}}}});
    for (std::size_t distance = 1; distance < most; distance *= 2) {
      const auto other = place ^ distance;
      steps.push_back(exchange_with(rank_at(other), place < other, whole, level, 2 * distance == most));
    }
    if (paired) steps.push_back({.level = level, .sends = {{tree.rank_at(me + 1), whole}}});
    return steps;
  });
}

}  // namespace heatpp::comm

#include <heatpp/comm/detail/numbers/numbers.hpp>

#include <algorithm>
#include <bit>

namespace heatpp::detail {
namespace {

constexpr Range before{0, 1}, total{1, 1};

/// The rank exchanges its total with `peer`. The later one of the two adds what comes to both of its sums.
Step exchange_totals(int rank, int peer) {
  Step step{.level = -1, .sends = {{peer, total}}, .sums = {{total, {peer}}}};
  if (rank < peer) step.sends.push_back({peer, total});
  else step.sums.insert(step.sums.begin(), {before, {peer}});
  return step;
}

/// Places the numbers of `count` ranks from `first` on, which may go round the end.
void add_ranges(std::vector<Message>& messages, int peer, int first, int count, int ranks) {
  const auto at_end = std::min(count, ranks - first);
  messages.push_back({peer, {first, at_end}});
  if (count > at_end) messages.push_back({peer, {0, count - at_end}});
}

Schedule one_lane(Steps steps) { return {.lanes = {{std::make_shared<const Steps>(std::move(steps)), 0}}}; }

}  // namespace

Schedule place_schedule(int ranks, int rank) {
  const auto most = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))), beyond = ranks - most;
  const bool paired = rank < 2 * beyond;
  const auto place = paired ? rank / 2 : rank - beyond;
  Steps steps;
  if (paired) steps.push_back(exchange_totals(rank, rank ^ 1));
  if (paired && rank % 2 == 1) {
    steps.push_back({.level = -1, .receives = {{rank - 1, total}}, .sums = {{before, {rank - 1}}}});
    return one_lane(std::move(steps));
  }
  for (int distance = 1; distance < most; distance *= 2) {
    const auto other = place ^ distance;
    steps.push_back(exchange_totals(rank, other < beyond ? 2 * other : other + beyond));
  }
  if (paired) steps.push_back({.level = -1, .sends = {{rank + 1, before}, {rank + 1, total}}});
  return one_lane(std::move(steps));
}

Schedule gather_schedule(int ranks, int rank) {
  Steps steps;
  for (int held = 1; held < ranks; held *= 2) {
    const auto count = std::min(held, ranks - held);
    const auto from = (rank + held) % ranks;
    Step step{.level = -1};
    add_ranges(step.sends, (rank + ranks - held) % ranks, rank, count, ranks);
    add_ranges(step.receives, from, from, count, ranks);
    steps.push_back(std::move(step));
  }
  return one_lane(std::move(steps));
}

}  // namespace heatpp::detail

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

/// Equal parts of a part of the machine. Each has `size` ranks, from rank `first` on.
struct Siblings {
  std::int64_t first, size, count;

  /// Adds the numbers of `parts` of them from `part` on, which may go round the end.
  void add(std::vector<Message>& messages, std::int64_t peer, std::int64_t part, std::int64_t parts) const {
    const auto to = static_cast<int>(peer);
    const auto at_end = std::min(parts, count - part);
    messages.push_back({to, {first + part * size, at_end * size}});
    if (parts > at_end) messages.push_back({to, {first, (parts - at_end) * size}});
  }
};

/// Adds the rounds after which a rank holds the numbers of all siblings of its part.
void gather_level(const Siblings& siblings, int rank, Steps& steps) {
  const auto part = (rank - siblings.first) / siblings.size, place = (rank - siblings.first) % siblings.size;
  const auto peer_in = [&](std::int64_t other) { return siblings.first + other * siblings.size + place; };
  for (std::int64_t held = 1; held < siblings.count; held *= 2) {
    const auto parts = std::min(held, siblings.count - held);
    const auto from = (part + held) % siblings.count, to = (part + siblings.count - held) % siblings.count;
    Step step{.level = -1};
    siblings.add(step.sends, peer_in(to), part, parts);
    siblings.add(step.receives, peer_in(from), from, parts);
    steps.push_back(std::move(step));
  }
}

/// Whether parts of the machine that lie side by side have consecutive ranks. The parts of each level are alike.
bool is_consecutive(const Tree& tree) {
  if (tree.is_leaf()) return true;
  const auto runs = tree.runs();
  const auto& [first, count, stride] = runs.front();
  return runs.size() == 1 && (count == 1 || stride == static_cast<int>(first.ranks())) && is_consecutive(first);
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

Schedule gather_schedule(std::span<const std::size_t> extents, int rank) {
  Steps steps;
  std::int64_t size = 1;
  for (const auto extent : extents) {
    const auto count = static_cast<std::int64_t>(extent), whole = count * size;
    gather_level({rank / whole * whole, size, count}, rank, steps);
    size = whole;
  }
  return one_lane(std::move(steps));
}

std::vector<std::size_t> extents_of_consecutive(const Tree& machine) {
  const auto extents = extents_of(machine);
  return extents && is_consecutive(machine) ? *extents : std::vector{machine.ranks()};
}

}  // namespace heatpp::detail

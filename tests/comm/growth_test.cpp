// Tests what one rank of many plans, holds and sends. One process makes the real plans for any number of ranks.
// Allocations are counted; no times are measured.
#include "../catch.hpp"
#include "../counted_memory.hpp"

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/machine/places.hpp>
#include <heatpp/comm/detail/progress/roll_call.hpp>
#include <heatpp/comm/detail/numbers/numbers.hpp>

#include <bit>
#include <functional>
#include <numeric>

namespace ht = heatpp;
using namespace ht::detail;

namespace {

/// The most messages and elements that a rank sends in one schedule, as the messages of a step to one rank travel
/// together.
struct Traffic {
  std::int64_t messages = 0, elements = 0;
};
Traffic traffic_of(const Schedule& schedule) {
  Traffic all;
  for (const auto& lane : schedule.lanes)
    for (const auto& step : *lane.steps) {
      int latest = -1;
      for (const auto& message : step.sends) {
        all.messages += message.peer != std::exchange(latest, message.peer);
        all.elements += message.range.count;
      }
    }
  return all;
}

std::int64_t log2_of(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

constexpr std::array many{1000, 10000, 65536, 100000};

/// Regular machines of that many ranks: extents, outermost first.
const std::vector<std::vector<int>> machines{{5, 8, 25}, {20, 10, 50}, {32, 32, 64}, {50, 40, 50}, {11, 13, 22}};

}  // namespace

TEST_CASE("a place in the whole takes the logarithm of the ranks in messages", "[comm][growth]") {
  for (const auto ranks : many)
    for (const auto rank : {0, 1, ranks / 3, ranks - 1}) {
      const auto sent = traffic_of(place_schedule(ranks, rank));
      CHECK(sent.messages <= log2_of(ranks) + 2);
      CHECK(sent.elements <= 2 * sent.messages);
      CHECK(cost_of([&] { return place_schedule(ranks, rank); }).kept <= 16 << 10);
    }
}

TEST_CASE("one number of each rank takes the logarithm of the ranks in messages", "[comm][growth]") {
  for (const auto ranks : many)
    for (const auto rank : {0, 1, ranks / 3, ranks - 1}) {
      const std::array flat{static_cast<std::size_t>(ranks)};
      const auto sent = traffic_of(gather_schedule(flat, rank));
      CHECK(sent.messages == log2_of(ranks));
      CHECK(sent.elements == ranks - 1);
      CHECK(cost_of([&] { return gather_schedule(flat, rank); }).kept <= 16 << 10);
    }
  for (const auto& shape : machines) {
    const auto extents = extents_of_consecutive(grid_of(shape));
    const auto ranks = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
    std::int64_t rounds = 0;
    for (const auto extent : shape) rounds += log2_of(extent);
    for (const auto rank : {0, 1, ranks / 3, ranks - 1}) {
      const auto sent = traffic_of(gather_schedule(extents, rank));
      CHECK(sent.messages == rounds);
      CHECK(sent.elements == ranks - 1);
    }
  }
}

TEST_CASE("a regular machine is kept as one run for each level", "[comm][growth]") {
  for (const auto& shape : machines) {
    const auto cost = cost_of([&] { return grid_of(shape); });
    CHECK(cost.allocations <= 30);
    CHECK(cost.kept <= 1024);
    // A tree from the places of the ranks takes as little, also if neighbors are on different nodes.
    const auto inner = shape[1] * shape[2], ranks = shape[0] * inner;
    Places places, round;
    for (int rank = 0; rank < ranks; ++rank) {
      places.push_back({rank / inner, rank / shape[2]});
      round.push_back({rank % shape[0], rank % (shape[0] * shape[1])});
    }
    const auto found = tree_of(places);
    CHECK(numbers_of(found) == numbers_of(grid_of(shape)));
    CHECK(found.alike());
    CHECK(cost_of([&] { return tree_of(places); }).kept <= 1024);
    CHECK(cost_of([&] { return tree_of(round); }).kept <= 1024);
  }
}

TEST_CASE("a new size of an all-reduce plans and keeps little on any number of ranks", "[comm][growth]") {
  for (const auto& shape : machines) {
    const auto ranks = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
    const auto machine = grid_of(shape);
    for (const auto* name : {"blueconnect", "doubling", "recursive", "tree"})
      for (const auto rank : {0, ranks / 3, ranks - 1}) {
        const auto& algorithm = ht::comm::algorithm(name);
        const auto cost = cost_of([&] { return algorithm.schedule(machine, {rank, 1 << 20, 4}); });
        INFO(name << " of " << ranks << ": " << cost.allocations << " allocations, " << cost.bytes << " bytes");
        CHECK(cost.allocations <= 4000);
        CHECK(cost.bytes <= 400 << 10);
        CHECK(cost.kept <= 20000);
        CHECK(traffic_of(algorithm.schedule(machine, {rank, 1 << 20, 4})).messages <= 8 * log2_of(ranks));
      }
  }
}

TEST_CASE("a broadcast plans and keeps little on any number of ranks", "[comm][growth]") {
  for (const auto& shape : machines) {
    const auto ranks = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
    const auto machine = factored(without_single_children(grid_of(shape)));
    for (const auto rank : {0, ranks / 3, ranks - 1}) {
      const auto cost = cost_of([&] { return allgather_steps(machine, Parts{{{0, 1000}, 7}}, rank); });
      INFO(ranks << ": " << cost.allocations << " allocations, " << cost.bytes << " bytes");
      CHECK(cost.allocations <= 3000);
      CHECK(cost.kept <= 20000);
    }
  }
}

TEST_CASE("parts of more than 2^31 elements are planned by numbers of 64 bits", "[comm][growth]") {
  const std::int64_t each = std::int64_t{3} << 30;
  Parts parts;
  for (int of = 0; of < 8; ++of) parts.push_back({{of * each, each}, of});
  std::int64_t sent = 0;
  for (const auto& step : allgather_steps(factored(side_by_side(8)), parts, 5))
    for (const auto& message : step.sends) sent += message.range.count;
  CHECK(sent == 7 * each);
}

TEST_CASE("texts of ranks reach all in log2 P rounds, with the lowest rank that differs", "[comm][growth]") {
  for (const auto ranks : {1, 2, 3, 7, 16, 37, 1000})
    for (const auto& differing : {std::vector<int>{}, {0}, {ranks - 1}, {ranks / 2, ranks / 3}}) {
      std::vector<Said> said;
      for (int rank = 0; rank < ranks; ++rank) {
        const bool differs = std::ranges::find(differing, rank) != differing.end();
        said.emplace_back(rank, Fingerprint({"call", differs ? rank + 1 : 0}, std::source_location::current(), ""));
      }
      int rounds = 0;
      for (int distance = 1; distance < ranks; distance *= 2, ++rounds) {
        const auto before = said;
        for (int rank = 0; rank < ranks; ++rank)
          said[static_cast<std::size_t>(rank)].add(before[static_cast<std::size_t>((rank + ranks - distance) % ranks)]);
      }
      CHECK(rounds == log2_of(ranks));
      // The lowest rank that does not agree with rank 0.
      int expected = -1;
      if (!differing.empty()) expected = differing.front() == 0 ? 1 : std::ranges::min(differing);
      if (ranks == 1) expected = -1;
      if (expected == 0) expected = 1;
      for (const auto& one : said) {
        CHECK(one.lowest == 0);
        CHECK(one.other == expected);
      }
    }
  CHECK(sizeof(Said) <= 1200);
}

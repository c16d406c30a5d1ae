// Schedules are functions of the machine. The tests run all ranks in one process, without messages.
#include "../catch.hpp"
#include "trees/play.hpp"
#include "trees/random_tree.hpp"

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/schedule/balance.hpp>
#include <heatpp/comm/detail/numbers/numbers.hpp>

#include <numeric>
#include <set>

namespace ht = heatpp;
using namespace ht::detail;

namespace {

Values total(int ranks, std::int64_t count) {
  Values sum(static_cast<std::size_t>(count), 0);
  for (const auto& mine : Play(ranks, count).data)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += mine[i];
  return sum;
}

Tree grid(const std::vector<int>& shape, int& next, std::size_t level = 0) {
  if (level == shape.size()) return Tree(next++);
  std::vector<Tree> children;
  for (int i = 0; i < shape[level]; ++i) children.push_back(grid(shape, next, level + 1));
  return {static_cast<int>(shape.size() - 1 - level), children};
}
Tree grid(const std::vector<int>& shape) {
  int next = 0;
  return grid(shape, next);
}

std::vector<Schedule> schedules(const ht::comm::Algorithm& algorithm, const Tree& tree, std::int64_t count,
                                const NodeMemory& memory = {}, std::span<const ht::Calibration::Cost> costs = {},
                                std::int64_t chunk = 0) {
  std::vector<Schedule> all;
  for (int r = 0; r < std::ssize(ranks_of(tree)); ++r)
    all.push_back(algorithm.schedule(tree, {r, count, 8, chunk, memory, costs}));
  return all;
}

std::vector<Schedule> single(std::size_t ranks, const std::function<Steps(int)>& steps) {
  std::vector<Schedule> all;
  for (std::size_t r = 0; r < ranks; ++r)
    all.push_back({{{std::make_shared<const Steps>(steps(static_cast<int>(r))), 0}}, 1});
  return all;
}

}  // namespace

TEST_CASE("schedules reduce exactly on every machine", "[comm][schedule]") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int p = 2 + static_cast<int>(random() % 11);
    std::vector<int> ranks(static_cast<std::size_t>(p));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::shuffle(ranks, random);
    const auto tree = random_tree(ranks, random, static_cast<int>(random() % 4));
    const auto count = static_cast<std::int64_t>(round % 5 == 0 ? random() % 200000 : random() % 40);
    for (const auto& algorithm : ht::comm::algorithms()) {
      if (!algorithm.schedule) continue;
      Play play(p, count);
      INFO(algorithm.name << " p " << p << " count " << count << " round " << round);
      CHECK(play.run(schedules(algorithm, tree, count)));
      for (const auto& result : play.data) CHECK(result == total(p, count));
    }
  }
}

TEST_CASE("exchanges inside nodes may use shared memory, in as many steps as it has room for", "[comm][schedule]") {
  std::mt19937 random(3);
  bool used = false;
  for (int round = 0; round < 200; ++round) {
    const int p = 2 + static_cast<int>(random() % 11), depth = static_cast<int>(random() % 4);
    std::vector<int> ranks(static_cast<std::size_t>(p));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::shuffle(ranks, random);
    const auto tree = random_tree(ranks, random, depth);
    const auto count = static_cast<std::int64_t>(random() % (round % 5 == 0 ? 20000 : 40));
    const NodeMemory memory{static_cast<int>(random() % static_cast<unsigned>(depth + 1)),
                            static_cast<std::int64_t>(1 + random() % 1000)};
    for (const auto& algorithm : ht::comm::algorithms()) {
      if (!algorithm.schedule) continue;
      Play play(p, count);
      play.share_memory(tree, memory);
      INFO(algorithm.name << " p " << p << " count " << count << " round " << round);
      CHECK(play.run(schedules(algorithm, tree, count, memory)));
      for (const auto& result : play.data) CHECK(result == total(p, count));
      used = used || play.in_memory;
    }
    Play rings(p, count);
    rings.share_memory(tree, memory);
    std::vector<Schedule> round_rings;
    for (int r = 0; r < p; ++r)
      round_rings.push_back(ht::comm::blueconnect(tree, {r, count, 8, 0, memory, {}, Style::ring}));
    CHECK(rings.run(round_rings));
    for (const auto& result : rings.data) CHECK(result == total(p, count));
    Play coded(p, count);
    coded.share_memory(tree, memory);
    std::vector<Schedule> all;
    for (int r = 0; r < p; ++r) all.push_back(ht::comm::coded_blueconnect(tree, {r, count, 1, 0, memory}));
    CHECK(coded.run(all));
    for (const auto& result : coded.data) CHECK(result == total(p, count));
    for (const auto& schedule : all)
      for (const auto& lane : schedule.lanes)
        for (const auto& step : *lane.steps) CHECK_FALSE((step.in_memory && step.coded != Coded::no));
  }
  CHECK(used);
}

TEST_CASE("chunks take orders of levels that even their loads", "[comm][schedule]") {
  using Cost = ht::Calibration::Cost;
  const std::vector<std::size_t> extents{4, 4};
  const auto busiest = [&](std::span<const Cost> costs, const BalancedOrders& balanced) {
    std::vector<double> sum(2, 0);
    for (const auto number : balanced.of_chunks) {
      const auto loads = loads_of(extents, costs, balanced.orders.at(number), 1 << 20);
      for (std::size_t l = 0; l < 2; ++l) sum[l] += loads[l];
    }
    return std::pair(std::ranges::max(sum), std::ranges::min(sum));
  };
  const std::vector<Cost> alike{{"node", 1e-6, 1e9}, {"cluster", 1e-6, 1e9}},
      unlike{{"node", 1e-6, 16e9}, {"cluster", 1e-6, 1e9}};

  const auto even = balanced_orders(extents, alike, 1 << 20, 16);
  CHECK(even.orders == std::vector<std::vector<int>>{{0, 1}, {1, 0}});
  CHECK(std::ranges::count(even.of_chunks, std::size_t{0}) == 8);
  CHECK(busiest(alike, even).first == Approx(busiest(alike, even).second));
  const BalancedOrders outwards{{{0, 1}}, std::vector<std::size_t>(16, 0)};
  CHECK(busiest(alike, even).first < 0.7 * busiest(alike, outwards).first);
  // A level that is slow in every order comes last.
  CHECK(balanced_orders(extents, unlike, 1 << 20, 16).orders == std::vector<std::vector<int>>{{0, 1}});

  const std::vector<Cost> three{{"node", 1e-6, 2e9}, {"rack", 1e-6, 1e9}, {"cluster", 1e-6, 1e9}};
  const auto& blueconnect = *std::ranges::find(ht::comm::algorithms(), "blueconnect", &ht::comm::Algorithm::name);
  const auto tree = grid({2, 3, 4});
  for (const std::int64_t count : {1, 24, 1000}) {
    const NodeMemory memory{0, 50};
    Play play(24, count);
    play.share_memory(tree, memory);
    const auto all = schedules(blueconnect, tree, count, memory, three, 24);
    CHECK(play.run(all));
    for (const auto& result : play.data) CHECK(result == total(24, count));
    CHECK(play.in_memory);
    std::set<int> first_levels;
    for (const auto& lane : all[0].lanes) first_levels.insert(lane.steps->front().level);
    CHECK(first_levels.size() == (count == 1000 ? 3 : 1));
  }
}

TEST_CASE("parts reach their owners and come back on every machine", "[comm][schedule]") {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const int p = 1 + static_cast<int>(random() % 12);
    std::vector<int> ranks(static_cast<std::size_t>(p));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::shuffle(ranks, random);
    const auto tree = without_single_children(random_tree(ranks, random, static_cast<int>(random() % 4)));
    std::vector<Range> parts;
    std::int64_t count = 0;
    for (int r = 0; r < p; ++r) {
      parts.push_back({count, static_cast<std::int64_t>(random() % 3 * (random() % 50))});
      count += parts.back().count;
    }
    // The steps use no memory, or that of some of the levels.
    const NodeMemory memory{static_cast<int>(random() % 4) - 1, static_cast<std::int64_t>(1 + random() % 100)};
    Play play(p, count);
    play.share_memory(tree, memory);
    CHECK(play.run(
        single(parts.size(), [&](int r) { return reduce_scatter_steps(tree, parts_by_rank(parts), r, memory); })));
    const auto sum = total(p, count);
    for (std::size_t r = 0; r < parts.size(); ++r)
      CHECK(std::equal(sum.begin() + parts[r].first, sum.begin() + parts[r].end(),
                       play.data[r].begin() + parts[r].first));

    CHECK(
        play.run(single(parts.size(), [&](int r) { return allgather_steps(tree, parts_by_rank(parts), r, memory); })));
    for (const auto& result : play.data) CHECK(result == sum);
  }
}

TEST_CASE("a decomposition sends the least data between nodes, and little on outer levels", "[comm][schedule]") {
  const std::int64_t count = 6 * 8 * 4 * 1000;
  for (const auto& shape : std::vector<std::vector<int>>{{192}, {48, 4}, {6, 8, 4}, {2, 3}}) {
    const auto tree = grid(shape);
    const auto p = std::ssize(ranks_of(tree));
    std::vector<std::int64_t> sent(shape.size(), 0);
    const auto schedule = ht::comm::blueconnect(tree, {0, count, 8});
    for (const auto& lane : schedule.lanes)
      for (const auto& step : *lane.steps)
        for (const auto& message : step.sends) sent[static_cast<std::size_t>(step.level)] += message.range.count;

    std::int64_t below = 1, sum = 0;
    for (std::size_t level = 0; level < shape.size(); ++level) {
      const auto members = shape[shape.size() - 1 - level];
      CHECK(std::abs(sent[level] - 2 * count / below * (members - 1) / members) <= 400);
      below *= members;
      sum += sent[level];
    }
    CHECK(std::abs(sum - 2 * count * (p - 1) / p) <= 800);
  }
}

TEST_CASE("halving and doubling take the logarithm of the ranks in steps", "[comm][schedule]") {
  const std::map<int, std::size_t> steps{{2, 2}, {3, 2}, {4, 4}, {6, 4}, {8, 6}, {64, 12}};
  for (const auto& [p, expected] : steps)
    CHECK(ht::comm::recursive(grid({p}), {0, 1 << 20, 4}).lanes[0].steps->size() == expected);
}

TEST_CASE("groups exchange at once each way, and large ones by halves", "[comm][schedule]") {
  const std::map<std::vector<int>, std::size_t> steps{
      {{4}, 2}, {{8, 4}, 4}, {{6, 8, 4}, 6}, {{48, 4}, 12}, {{192}, 14}};
  for (const auto& [shape, expected] : steps)
    CHECK(ht::comm::blueconnect(grid(shape), {0, 1 << 20, 4}).lanes[0].steps->size() == expected);
}

TEST_CASE("levels may be gone through in any order, and the first one carries most", "[comm][schedule]") {
  const std::int64_t count = 2 * 3 * 4 * 10;
  const auto tree = grid({2, 3, 4});
  const auto& blueconnect = *std::ranges::find(ht::comm::algorithms(), "blueconnect", &ht::comm::Algorithm::name);
  std::vector<int> order{0, 1, 2};
  do {
    const auto machine = reordered(tree, order);
    REQUIRE(machine);
    Play play(24, count);
    CHECK(play.run(schedules(blueconnect, *machine, count)));
    for (const auto& result : play.data) CHECK(result == total(24, count));
    CHECK(extents_of(*machine)->front() == std::array<std::size_t, 3>{4, 3, 2}[static_cast<std::size_t>(order[0])]);
    CHECK(machine->child(0).child(0).level() == order[0]);
  } while (std::ranges::next_permutation(order).found);

  CHECK_FALSE(reordered(tree, std::array{0, 1}));
  CHECK_FALSE(reordered(tree, std::array{0, 1, 1}));
  CHECK_FALSE(reordered(Tree(1, std::array{grid({2}), grid({3})}), std::array{1, 0}));
}

TEST_CASE("ranks find their place in the whole, for any number of ranks", "[comm][schedule]") {
  for (int ranks = 1; ranks <= 70; ++ranks) {
    Play places(ranks, 2);
    std::vector<Schedule> to_place;
    for (int r = 0; r < ranks; ++r) {
      to_place.push_back(place_schedule(ranks, r));
      places.data[static_cast<std::size_t>(r)] = {0, std::int64_t{r} * r + 1};
    }
    CHECK(places.run(to_place));
    const auto sum_before = [](std::int64_t n) { return (n - 1) * n * (2 * n - 1) / 6 + n; };
    for (int r = 0; r < ranks; ++r)
      CHECK(places.data[static_cast<std::size_t>(r)] == Values{sum_before(r), sum_before(ranks)});
  }
}

TEST_CASE("a number of each rank is gathered level by level, for any number of ranks", "[comm][schedule]") {
  std::vector<Tree> machines{grid({6, 8, 4}), *reordered(grid({3, 4}), std::array{1, 0}), grid({2, 1, 7}),
                             Tree(1, std::array{grid({2}), Tree(2)})};
  CHECK(extents_of_consecutive(machines[0]) == std::vector<std::size_t>{4, 8, 6});
  CHECK(extents_of_consecutive(machines[1]) == std::vector<std::size_t>{12});
  for (int ranks = 1; ranks <= 70; ++ranks) machines.push_back(side_by_side(ranks));
  for (const auto& machine : machines) {
    Values all(machine.ranks());
    Play gathered(static_cast<int>(all.size()), std::ssize(all));
    std::vector<Schedule> to_gather;
    for (std::size_t r = 0; r < all.size(); ++r) {
      to_gather.push_back(gather_schedule(extents_of_consecutive(machine), static_cast<int>(r)));
      gathered.data[r][r] = all[r] = 3 * static_cast<std::int64_t>(r);
    }
    CHECK(gathered.run(to_gather));
    for (const auto& numbers : gathered.data) CHECK(numbers == all);
  }
}

#include "../catch.hpp"

#include <heatpp/comm/topology.hpp>

#include "machines.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace ht = heatpp;

namespace {

std::vector<float> noise(std::size_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<float> normal;
  std::vector<float> data(count);
  for (auto& x : data) x = normal(random);
  return data;
}

/// Returns the sum of the ranks' noise, in float64.
std::vector<double> exact_sum(int ranks, std::size_t count) {
  std::vector<double> sum(count, 0);
  for (int r = 0; r < ranks; ++r) {
    const auto one = noise(count, r);
    for (std::size_t i = 0; i < count; ++i) sum[i] += static_cast<double>(one[i]);
  }
  return sum;
}

double largest_error(const std::vector<float>& values, const std::vector<double>& exact) {
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(values[i]) - exact[i]));
  return largest;
}

bool same_bits_on_all(const ht::Communicator& comm, const std::vector<float>& data) {
  auto first = data;
  comm.broadcast(first, 0);
  std::array<std::int64_t, 1> same{std::memcmp(first.data(), data.data(), data.size() * sizeof(float)) == 0};
  comm.allreduce(same, ht::ReduceOp::min);
  return same[0] != 0;
}

}  // namespace

TEST_CASE("reduce_scatter and allgather keep to the counts on every machine", "[comm][collectives]") {
  const auto& world = ht::world();
  const auto me = static_cast<std::size_t>(world.rank());
  for (const auto& machine : machines(world.size()))
    for (const std::int64_t unit : {0, 1, 5, 4000, 40000}) {
      const ht::Topology topology(world, machine);
      std::vector<std::int64_t> counts, firsts{0};
      for (int r = 0; r < world.size(); ++r) {
        counts.push_back((world.size() - r) % 3 * unit);
        firsts.push_back(firsts.back() + counts.back());
      }
      std::vector<std::int64_t> data(static_cast<std::size_t>(firsts.back())), whole(data.size());
      std::iota(data.begin(), data.end(), world.rank());
      auto later = data, gathered = whole;
      auto under_way = topology.ireduce_scatter(later, counts);
      topology.reduce_scatter(data, counts);
      const auto sum = [&](std::int64_t i) { return world.size() * i + world.size() * (world.size() - 1) / 2; };
      std::int64_t wrong = 0;
      for (auto i = firsts[me]; i < firsts[me + 1]; ++i) wrong += data[static_cast<std::size_t>(i)] != sum(i);

      topology.allgather({data.data() + firsts[me], counts[me], ht::int64}, whole, counts);
      under_way.wait();
      topology.iallgather({later.data() + firsts[me], counts[me], ht::int64}, gathered, counts).wait();
      for (std::size_t i = 0; i < whole.size(); ++i) wrong += whole[i] != sum(static_cast<std::int64_t>(i));
      wrong += gathered != whole;

      INFO(ht::comm::describe(topology) << "unit " << unit);
      CHECK(wrong == 0);
    }
}

TEST_CASE("broadcast and reduce know every root on every machine", "[comm][collectives]") {
  const auto& world = ht::world();
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    for (int root = 0; root < world.size(); ++root)
      for (const std::size_t count : {0, 1, 300000}) {
        if (count > 1 && root > 1) continue;
        std::vector<std::int32_t> sent(count, world.rank() == root ? 7 : 0), sum(count, world.rank());
        topology.broadcast(sent, root);
        topology.reduce(sum, root);

        CHECK(sent == std::vector<std::int32_t>(count, 7));
        if (world.rank() == root) CHECK(sum == std::vector(count, world.size() * (world.size() - 1) / 2));
      }
  }
}

TEST_CASE("bad counts and roots are errors before anything is sent", "[comm][collectives]") {
  const ht::Topology topology(ht::world());
  std::vector<float> data(4);
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(ht::world().size()), 9);
  CHECK_THROWS_WITH(topology.reduce_scatter(data, counts), Catch::Contains("sum"));
  CHECK_THROWS_AS(topology.allgather(data, data, counts), ht::ValueError);
  CHECK_THROWS_WITH((void)topology.ireduce_scatter(data, counts), Catch::Contains("[ireduce_scatter]"));
  CHECK_THROWS_WITH((void)topology.iallgather(data, data, counts), Catch::Contains("[iallgather]"));
  CHECK_THROWS_WITH(topology.broadcast(data, ht::world().size()), Catch::Contains("root"));
  CHECK_THROWS_AS(topology.reduce(data, -1), ht::ValueError);
}

TEST_CASE("a part of another size or dtype on one rank is an error on all", "[comm][collectives]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank % 2; }});
  const auto p = static_cast<std::size_t>(world.size());
  const bool last = world.rank() == world.size() - 1;
  std::vector<double> all(2 * p), mine(2), wrong(3);
  std::vector<std::int64_t> counts(p, 2), negative(counts), integers(2);
  negative[0] = -2;
  negative.back() += 4;
  const ht::ConstBuffer too_long = last ? ht::ConstBuffer(wrong) : mine,
                        other = last ? ht::ConstBuffer(integers) : mine;
  for (const auto& part : {too_long, other}) {
    CHECK_THROWS_AS(world.allgather(part, all, counts), ht::ValueError);
    CHECK_THROWS_AS(topology.allgather(part, all, counts), ht::ValueError);
    auto request = world.iallgather(part, all, counts);
    CHECK_THROWS_AS(request.wait(), ht::ValueError);
  }
  CHECK_THROWS_AS(world.gather(too_long, all, counts, 0), ht::ValueError);
  CHECK_THROWS_WITH(world.scatter(all, {last ? wrong.data() : mine.data(), last ? 3 : 2, ht::float64}, counts, 0),
                    Catch::Contains("[scatter]"));
  CHECK_THROWS_WITH(world.allgather(mine, {all.data(), 1, ht::float64}, counts), Catch::Contains("with the sum 1"));
  CHECK_THROWS_WITH(world.reduce_scatter({all.data(), 1, ht::float64}, counts), Catch::Contains("[reduce_scatter]"));
  CHECK_THROWS_WITH(world.broadcast(all, world.size()), Catch::Contains("[broadcast] got the root"));
  if (p > 1) CHECK_THROWS_WITH(topology.reduce_scatter(all, negative), Catch::Contains("negative"));
}

TEST_CASE("the collectives of a communicator give the results of those of a topology", "[comm][collectives]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank % 2; }});
  const auto p = static_cast<std::size_t>(world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  const std::vector<std::int64_t> counts(p, 1);
  // 256 + 1 is 256 in bfloat16, so a sum that is rounded more than once is smaller.
  std::vector<std::uint16_t> data(p, world.rank() == 0 ? 0x4380 : 0x3f80), by_levels(data), exact(data), rooted(data);
  world.reduce_scatter({data.data(), world.size(), ht::bfloat16}, counts);
  topology.reduce_scatter({by_levels.data(), world.size(), ht::bfloat16}, counts);
  topology.allreduce({exact.data(), world.size(), ht::bfloat16}, {.reproducible = true});
  world.reduce({rooted.data(), world.size(), ht::bfloat16}, 0);
  CHECK(data[me] == exact[me]);
  CHECK(by_levels[me] == exact[me]);
  if (me == 0) CHECK(rooted == exact);

  std::vector<double> mean(2 * p, 1.0 + world.rank());
  world.reduce_scatter(mean, std::vector<std::int64_t>(p, 2), ht::ReduceOp::mean);
  CHECK(mean[2 * me + 1] == Approx((world.size() + 1) / 2.0));
  std::vector<std::int64_t> whole(2 * p, 1);
  CHECK_THROWS_AS(world.reduce_scatter(whole, std::vector<std::int64_t>(p, 2), ht::ReduceOp::mean), ht::TypeError);
  CHECK_THROWS_WITH(world.exscan(whole, ht::ReduceOp::mean), Catch::StartsWith("[exscan]"));
}

TEST_CASE("a scan reduces the ranks up to this one, and exscan those before it", "[comm][collectives]") {
  const auto& world = ht::world();
  const auto before = static_cast<double>(world.rank());
  std::vector<double> sum{before + 1}, mean(sum), mean_before(sum), product{2};
  std::vector<std::uint16_t> rounded{static_cast<std::uint16_t>(world.rank() == 0 ? 0x4380 : 0x3f80)};
  world.scan(sum);
  world.scan(mean, ht::ReduceOp::mean);
  world.exscan(mean_before, ht::ReduceOp::mean);
  world.scan(product, ht::ReduceOp::prod);
  world.scan({rounded.data(), 1, ht::bfloat16});
  CHECK(sum[0] == (before + 1) * (before + 2) / 2);
  CHECK(mean[0] == Approx((before + 2) / 2));
  if (world.rank() > 0) CHECK(mean_before[0] == Approx((before + 1) / 2));
  CHECK(product[0] == std::pow(2, before + 1));
  if (world.rank() == 2) CHECK(rounded[0] == 0x4381);  // 258
}

TEST_CASE("gather and scatter move uneven parts to and from any root", "[comm][collectives]") {
  const auto& world = ht::world();
  std::vector<std::int64_t> counts, expected;
  for (int r = 0; r < world.size(); ++r) {
    counts.push_back(r % 3 * 100000);
    expected.insert(expected.end(), static_cast<std::size_t>(counts.back()), r);
  }
  const std::vector<std::int64_t> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]),
                                       world.rank());
  for (int root = 0; root < world.size(); ++root) {
    const bool here = world.rank() == root;
    std::vector<std::int64_t> all(here ? expected.size() : 0), back(mine.size(), -1);
    world.gather(mine, all, counts, root);
    world.scatter(all, back, counts, root);
    if (here) CHECK(all == expected);
    CHECK(back == mine);
  }
}

TEST_CASE("collectives may be under way together", "[comm][collectives]") {
  const auto& world = ht::world();
  const auto p = static_cast<std::size_t>(world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  const std::vector<std::int64_t> counts(p, 3);
  std::vector<std::int64_t> sent(100000, world.rank() == 0 ? 9 : 0), all(3 * p), sum(3 * p, world.rank());
  const std::vector<std::int64_t> mine(3, world.rank());
  std::vector<ht::Request> requests;
  requests.push_back(world.ibroadcast(sent, 0));
  requests.push_back(world.iallgather(mine, all, counts));
  requests.push_back(world.ireduce_scatter(sum, counts));
  ht::wait_all(requests);
  CHECK(sent == std::vector<std::int64_t>(100000, 9));
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<std::int64_t>(i / 3));
  CHECK(sum[3 * me] == world.size() * (world.size() - 1) / 2);
}

TEST_CASE("many arrays of any size and dtype go in one call", "[comm][collectives]") {
  const auto& world = ht::world();
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    std::vector<std::vector<float>> floats;
    std::vector<std::vector<std::int32_t>> whole;
    std::vector<ht::Buffer> all;
    for (const std::size_t count : {3, 0, 100, 200000, 1, 5000})
      floats.emplace_back(count, static_cast<float>(world.rank()));
    for (const std::size_t count : {2, 7}) whole.emplace_back(count, world.rank());
    for (auto& x : floats) all.emplace_back(x);
    for (auto& x : whole) all.emplace_back(x);

    topology.allreduce(all);

    const int sum = world.size() * (world.size() - 1) / 2;
    for (const auto& x : floats) CHECK(x == std::vector<float>(x.size(), static_cast<float>(sum)));
    for (const auto& x : whole) CHECK(x == std::vector<std::int32_t>(x.size(), sum));
  }
}

TEST_CASE("wire formats round little, and equally on all ranks", "[comm][collectives]") {
  const auto& world = ht::world();
  const std::size_t count = 5000;
  const auto exact = exact_sum(world.size(), count);
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    for (const auto& [wire, unit] : {std::pair{ht::Wire::bfloat16, 0.01},
                                     {ht::Wire::int8, 0.03},
                                     {ht::Wire::int4, 0.6},
                                     {ht::Wire::float4, 1.4}}) {
      auto data = noise(count, world.rank());
      auto request = topology.iallreduce(data, {.wire = wire});
      request.wait();

      CHECK(largest_error(data, exact) < unit * (world.size() + 2));  // half a unit for each operand and the result
      CHECK(same_bits_on_all(world, data));
    }
  }
}

TEST_CASE("a narrow wire sends its share of float32's bytes, scales included", "[comm][collectives]") {
  const auto& world = ht::world();
  if (world.size() == 1) return;
  const std::int64_t count = 1 << 16;
  for (const auto& machine : machines(world.size())) {
    const auto sent = [&](ht::Wire wire) {
      const ht::Topology topology(world, machine);
      auto data = noise(count, world.rank());
      const auto before = topology.traffic().back().bytes;
      topology.iallreduce(data, {.algorithm = wire == ht::Wire::float32 ? "blueconnect" : "", .wire = wire}).wait();
      return topology.traffic().back().bytes - before;
    };
    const auto whole = static_cast<double>(sent(ht::Wire::float32));
    if (whole == 0) continue;
    CHECK(static_cast<double>(sent(ht::Wire::int8)) < 0.26 * whole);
    for (const auto wire : {ht::Wire::int4, ht::Wire::float4}) {
      CHECK(static_cast<double>(sent(wire)) <= 0.14 * whole);
      CHECK(static_cast<double>(sent(wire)) >= 0.13 * whole);
    }
  }
}

TEST_CASE("with a residual no rounding error is lost", "[comm][collectives]") {
  const auto& world = ht::world();
  const std::size_t count = 1000;
  const int rounds = 50;
  auto exact = exact_sum(world.size(), count);
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    std::vector<float> residual(count, 0);
    std::vector<double> total(count, 0);
    for (int round = 0; round < rounds; ++round) {
      auto data = noise(count, world.rank());
      topology.allreduce(data, {.op = ht::ReduceOp::mean, .wire = ht::Wire::int8, .residual = residual});
      for (std::size_t i = 0; i < count; ++i) total[i] += static_cast<double>(data[i]) / rounds;
    }
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(total[i] - exact[i] / world.size()));
    CHECK(largest < 0.03 * 2 / rounds * 2);
  }
}

TEST_CASE("a wire format that does not fit is an error on all ranks", "[comm][collectives]") {
  const ht::Topology topology(ht::world());
  std::vector<double> wide(3);
  std::vector<float> data(3), residual(2);
  CHECK_THROWS_AS(topology.allreduce(wide, {.wire = ht::Wire::int8}), ht::TypeError);
  CHECK_THROWS_AS(topology.allreduce(data, {.op = ht::ReduceOp::max, .wire = ht::Wire::int8}), ht::TypeError);
  CHECK_THROWS_AS(topology.allreduce(data, {.algorithm = "ring", .wire = ht::Wire::int8}), ht::ValueError);
  CHECK_THROWS_WITH(topology.allreduce(data, {.wire = ht::Wire::int8, .residual = residual}),
                    Catch::Contains("residual of 2"));
}

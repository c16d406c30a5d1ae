#include <catch2/catch.hpp>

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

/// Of the ranks' noise, in float64.
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
    for (const std::int64_t unit : {0, 1, 5, 40000}) {
      const ht::Topology topology(world, machine);
      std::vector<std::int64_t> counts, firsts{0};
      for (int r = 0; r < world.size(); ++r) {
        counts.push_back((world.size() - r) % 3 * unit);
        firsts.push_back(firsts.back() + counts.back());
      }
      std::vector<std::int64_t> data(static_cast<std::size_t>(firsts.back())), whole(data.size());
      std::iota(data.begin(), data.end(), world.rank());
      topology.reduce_scatter(data, counts);
      const auto sum = [&](std::int64_t i) { return world.size() * i + world.size() * (world.size() - 1) / 2; };
      std::int64_t wrong = 0;
      for (auto i = firsts[me]; i < firsts[me + 1]; ++i) wrong += data[static_cast<std::size_t>(i)] != sum(i);

      topology.allgather({data.data() + firsts[me], counts[me], ht::int64}, whole, counts);
      for (std::size_t i = 0; i < whole.size(); ++i) wrong += whole[i] != sum(static_cast<std::int64_t>(i));

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
  CHECK_THROWS_WITH(topology.broadcast(data, ht::world().size()), Catch::Contains("root"));
  CHECK_THROWS_AS(topology.reduce(data, -1), ht::ValueError);
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

TEST_CASE("a reproducible sum has the same bits on every topology", "[comm][collectives]") {
  const auto& world = ht::world();
  for (const std::size_t count : {1, 10, 5000, 200000}) {
    auto reference = noise(count, world.rank());
    ht::Topology(world).allreduce(reference, {.reproducible = true});
    CHECK(largest_error(reference, exact_sum(world.size(), count)) < 1e-5);
    CHECK(same_bits_on_all(world, reference));
    for (const auto& machine : machines(world.size())) {
      const ht::Topology topology(world, machine);
      for (const auto& options : {ht::AllreduceOptions{.reproducible = true}, {.algorithm = "ordered"}}) {
        auto data = noise(count, world.rank());
        topology.allreduce(data, options);
        CHECK(std::memcmp(data.data(), reference.data(), count * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("wire formats round little, alike on all ranks", "[comm][collectives]") {
  const auto& world = ht::world();
  const std::size_t count = 5000;
  const auto exact = exact_sum(world.size(), count);
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    for (const auto& [wire, unit] : {std::pair{ht::bfloat16, 0.01}, {ht::int8, 0.03}}) {
      auto data = noise(count, world.rank());
      auto request = topology.iallreduce(data, {.wire = wire});
      request.wait();

      CHECK(largest_error(data, exact) < unit * (world.size() + 2));  // a half unit for each operand and the result
      CHECK(same_bits_on_all(world, data));
    }
  }
}

TEST_CASE("with a residual nothing is lost for good", "[comm][collectives]") {
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
      topology.allreduce(data, {.op = ht::ReduceOp::mean, .wire = ht::int8, .residual = residual});
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
  CHECK_THROWS_AS(topology.allreduce(wide, {.wire = ht::int8}), ht::TypeError);
  CHECK_THROWS_AS(topology.allreduce(data, {.op = ht::ReduceOp::max, .wire = ht::int8}), ht::TypeError);
  CHECK_THROWS_AS(topology.allreduce(data, {.algorithm = "ring", .wire = ht::int8}), ht::ValueError);
  CHECK_THROWS_WITH(topology.allreduce(data, {.wire = ht::int8, .residual = residual}),
                    Catch::Contains("residual of 2"));
}

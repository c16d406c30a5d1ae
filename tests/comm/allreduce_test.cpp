#include "../catch.hpp"

#include <heatpp/comm/allreduce/algorithm.hpp>

#include "machines.hpp"

#include <bit>
#include <cstring>
#include <numeric>
#include <random>

namespace ht = heatpp;

namespace {

std::vector<ht::comm::Algorithm> usable(const ht::Topology& topology) {
  std::vector<ht::comm::Algorithm> all;
  std::ranges::copy_if(ht::comm::algorithms(), std::back_inserter(all),
                       [&](const auto& algorithm) { return !algorithm.fits || algorithm.fits(topology); });
  return all;
}

std::vector<std::int64_t> numbers(std::size_t count, int factor) {
  std::vector<std::int64_t> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = (static_cast<std::int64_t>(i) + 1) * factor;
  return data;
}
int sum_to(int p) { return p * (p + 1) / 2; }

bool same_on_all(const ht::Communicator& comm, std::vector<double> data) {
  const auto mine = data;
  comm.broadcast(data, 0);
  std::array<std::int64_t, 1> same{std::memcmp(mine.data(), data.data(), data.size() * sizeof(double)) == 0};
  comm.allreduce(same, ht::ReduceOp::min);
  return same[0] != 0;
}

}  // namespace

TEST_CASE("every algorithm gives the exact sum for every count on every machine", "[comm][allreduce]") {
  const auto& world = ht::world();
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    for (const auto& algorithm : usable(topology))
      for (const std::size_t count : {0, 1, 2, 3, 7, 1000, 150000}) {
        if (count > 1000 && world.size() > 4 && topology.levels().size() < 3) continue;
        auto data = numbers(count, world.rank() + 1);

        topology.allreduce(data, ht::ReduceOp::sum, algorithm.name);

        INFO(algorithm.name << " on " << ht::comm::describe(topology) << "count " << count);
        CHECK(data == numbers(count, sum_to(world.size())));
      }
  }
}

TEST_CASE("every algorithm has every operation, and floats are equal on all ranks", "[comm][allreduce]") {
  const auto& world = ht::world();
  const double p = world.size();
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    for (const auto& algorithm : usable(topology)) {
      std::vector<double> low{1.0 + world.rank()}, high(low), sum(101, 0.1 * (world.rank() + 1)), mean(sum);
      std::vector<double> product{1.0 + world.rank(), 1};
      low.push_back(world.rank() == 0 ? std::nan("") : 1);
      topology.allreduce(low, ht::ReduceOp::min, algorithm.name);
      topology.allreduce(high, ht::ReduceOp::max, algorithm.name);
      topology.allreduce(sum, ht::ReduceOp::sum, algorithm.name);
      topology.allreduce(mean, ht::ReduceOp::mean, algorithm.name);
      topology.allreduce(product, ht::ReduceOp::prod, algorithm.name);

      INFO(algorithm.name << " on " << ht::comm::describe(topology));
      CHECK(low[0] == 1.0);
      CHECK(std::isnan(low[1]));
      CHECK(high[0] == p);
      CHECK(sum[100] == Approx(0.1 * sum_to(world.size())));
      CHECK(mean[100] == Approx(0.1 * (p + 1) / 2));
      CHECK(product[0] == Approx(std::tgamma(p + 1)));
      CHECK(same_on_all(world, sum));
    }
  }
}

TEST_CASE("the size of chunks and messages does not change a bit of a sum", "[comm][allreduce]") {
  const auto& world = ht::world();
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    std::vector<float> mine(1000);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = std::sin(static_cast<float>(i + 1) * (world.rank() + 1.f));
    auto reference = mine;
    topology.allreduce(reference, {.algorithm = "blueconnect"});
    for (const std::int64_t chunk : {4, 28, 400, 4000})
      for (const std::int64_t message : {0, 3, 64}) {
        auto data = mine;

        topology.allreduce(data, {.algorithm = "blueconnect", .chunk_bytes = chunk, .message_bytes = message});

        INFO("chunks of " << chunk << ", messages of " << message << " bytes on " << ht::comm::describe(topology));
        CHECK(data == reference);
      }
  }
}

TEST_CASE("16-bit floats are accumulated in float32 and rounded once", "[comm][allreduce]") {
  const auto& world = ht::world();
  const ht::Topology topology(world);
  for (const auto& algorithm : usable(topology)) {
    // 256 + 1 is 256 in bfloat16; 256 + (p - 1), rounded once, is not, from p = 3 on.
    std::vector<std::uint16_t> data{static_cast<std::uint16_t>(world.rank() == 0 ? 0x4380 : 0x3f80)};
    topology.allreduce({data.data(), 1, ht::bfloat16}, ht::ReduceOp::sum, algorithm.name);

    const auto value = std::bit_cast<float>(std::uint32_t{data[0]} << 16);
    const auto exact = 255.0f + static_cast<float>(world.size());
    INFO(algorithm.name);
    CHECK(std::abs(value - exact) <= 1);
    CHECK(std::fmod(value, 2.0f) == 0);
    if (world.size() == 3) CHECK(value == 258);
  }
}

TEST_CASE("sums and products of narrow integers wrap", "[comm][allreduce]") {
  const auto& world = ht::world();
  const ht::Topology topology(world);
  const auto check = [&]<class T>(T value) {
    // An unsigned number wraps where the exact one would overflow.
    const auto wrapped = [](std::uint64_t number) { return static_cast<T>(number); };
    const std::vector<T> mine(100, value), sum(100, wrapped(static_cast<std::uint64_t>(world.size() * value)));
    std::uint64_t power = 1;
    for (int rank = 0; rank < world.size(); ++rank) power *= static_cast<std::uint64_t>(value);
    for (const auto& algorithm : usable(topology)) {
      auto added = mine, multiplied = mine;
      topology.allreduce(added, ht::ReduceOp::sum, algorithm.name);
      topology.allreduce(multiplied, ht::ReduceOp::prod, algorithm.name);
      INFO(algorithm.name);
      CHECK(added == sum);
      CHECK(multiplied == std::vector<T>(100, wrapped(power)));
    }
    auto before = mine;
    world.exscan(before);
    if (world.rank() > 0)
      CHECK(before == std::vector<T>(100, wrapped(static_cast<std::uint64_t>(world.rank() * value))));
  };
  check(std::uint8_t{200});
  check(std::int8_t{-100});
  check(std::int16_t{30000});
}

TEST_CASE("the mean of integers and the order of complex numbers are errors on all ranks", "[comm][allreduce]") {
  const ht::Topology topology(ht::world());
  std::vector<std::int32_t> whole(3);
  std::vector<std::complex<float>> complex(3);
  CHECK_THROWS_AS(topology.allreduce(whole, ht::ReduceOp::mean), ht::TypeError);
  CHECK_THROWS_AS(ht::world().allreduce(whole, ht::ReduceOp::mean), ht::TypeError);
  CHECK_THROWS_AS(topology.iallreduce(complex, ht::ReduceOp::max), ht::TypeError);
}

TEST_CASE("random counts on random machines, begun together and waited for in any order", "[comm][allreduce]") {
  const auto& world = ht::world();
  std::mt19937 random(5), mine(static_cast<unsigned>(world.rank()));
  for (int round = 0; round < 4; ++round) {
    const auto seed = random();
    const ht::Topology topology(world, {.place_of = [seed](int rank) {
                                  std::mt19937 places(seed + static_cast<unsigned>(rank));
                                  return std::vector{static_cast<int>(places() % 2), static_cast<int>(places() % 3)};
                                }});
    const auto algorithms = usable(topology);
    std::vector<std::vector<std::int64_t>> data;
    std::vector<ht::Request> requests;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < 300; ++i) {
      data.push_back(numbers(random() % (i % 50 == 0 ? 30000 : 300), world.rank() + 1));
      const auto& algorithm = algorithms[random() % algorithms.size()];
      requests.push_back(topology.iallreduce(data.back(), ht::ReduceOp::sum, algorithm.name));
      order.push_back(i);
    }
    std::ranges::shuffle(order, mine);
    world.barrier();  // a blocking call lets operations under way progress
    for (const auto i : order) requests[i].wait();
    for (const auto& result : data) CHECK(result == numbers(result.size(), sum_to(world.size())));
  }
  CHECK(ht::progress());
}

TEST_CASE("thousands of operations may be under way, and one that is dropped is waited for", "[comm][allreduce]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
  std::vector<std::vector<std::int64_t>> data(2000, numbers(17, world.rank() + 1));
  {
    std::vector<ht::Request> requests;
    for (auto& one : data) requests.push_back(topology.iallreduce(one, ht::ReduceOp::sum, "blueconnect"));
  }
  const auto expected = numbers(17, sum_to(world.size()));
  CHECK(std::ranges::all_of(data, [&](const auto& one) { return one == expected; }));
}

TEST_CASE("an order of levels gives the exact sum, and one that does not fit is an error", "[comm][allreduce]") {
  const auto& world = ht::world();
  const int p = world.size();
  if (p == 1) return;
  std::vector<std::int64_t> data(1001, world.rank() + 1);
  if (p % 2 == 0 && p > 2) {
    const ht::Topology topology(world, {.shape = {2, p / 2}});
    topology.allreduce(data, {.order = {1, 0}});
    CHECK(data == std::vector<std::int64_t>(1001, sum_to(p)));
    CHECK_THROWS_AS(topology.allreduce(data, {.order = {1, 1}}), ht::ValueError);
    CHECK_THROWS_AS(topology.iallreduce(data, {.order = {0, 1, 2}}), ht::ValueError);
  }
  if (p > 2) {
    const ht::Topology uneven(world, {.node_of = [](int rank) { return rank == 0 ? 0 : 1; }});
    CHECK_THROWS_AS(uneven.allreduce(data, {.order = {1, 0}}), ht::ValueError);
  }
}

TEST_CASE("an algorithm that does not exist is an error that names the others", "[comm][allreduce]") {
  std::vector<float> data(4);
  CHECK_THROWS_WITH(ht::Topology(ht::world()).allreduce(data, ht::ReduceOp::sum, "magic"),
                    Catch::Contains("native, ring, recursive, doubling, tree, blueconnect, ordered, shared"));
}

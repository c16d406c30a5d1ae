#include <catch2/catch.hpp>

#include <heatpp/comm/allreduce/algorithm.hpp>

#include <numeric>

namespace ht = heatpp;

namespace {

std::vector<std::vector<int>> factorings(int n) {
  std::vector<std::vector<int>> shapes{{n}, {1, n}, {n, 1}};
  if (n == 4) shapes.insert(shapes.end(), {{2, 2}, {2, 1, 2}, {2, 2, 1}});
  return shapes;
}

}  // namespace

TEST_CASE("every algorithm gives the exact sum for every count and factoring", "[comm][allreduce]") {
  const auto& world = ht::world();
  for (const auto& shape : factorings(world.size()))
    for (const auto& algorithm : ht::comm::algorithms())
      for (const std::size_t count : {0, 1, 2, 3, 7, 1000, 300000}) {
        const ht::Topology topology(world, {.shape = shape});
        std::vector<std::int64_t> data(count), expected(count);
        for (std::size_t i = 0; i < count; ++i) {
          data[i] = static_cast<std::int64_t>(i) * (world.rank() + 1);
          expected[i] = static_cast<std::int64_t>(i) * world.size() * (world.size() + 1) / 2;
        }

        topology.allreduce(data, ht::ReduceOp::sum, algorithm.name);

        INFO(algorithm.name << " on " << ht::comm::describe(topology) << "count " << count);
        CHECK(data == expected);
      }
}

TEST_CASE("every algorithm knows every operation, and floats come out alike on all ranks", "[comm][allreduce]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.shape = {world.size(), 1}});
  for (const auto& algorithm : ht::comm::algorithms()) {
    std::vector<double> low{1.0 + world.rank()}, high(low), sum(101, 0.1 * (world.rank() + 1));
    topology.allreduce(low, ht::ReduceOp::min, algorithm.name);
    topology.allreduce(high, ht::ReduceOp::max, algorithm.name);
    topology.allreduce(sum, ht::ReduceOp::sum, algorithm.name);

    CHECK(low[0] == 1.0);
    CHECK(high[0] == world.size());
    auto first = sum;
    world.broadcast(first, 0);
    CHECK(first == sum);
  }
}

TEST_CASE("an algorithm that does not exist or does not fit is an error that names the others", "[comm][allreduce]") {
  const auto& world = ht::world();
  std::vector<float> data(4);
  CHECK_THROWS_WITH(ht::Topology(world).allreduce(data, ht::ReduceOp::sum, "magic"),
                    Catch::Contains("native, blueconnect"));
  if (world.size() < 3) return;
  const ht::Topology uneven(world, {.node_of = [](int rank) { return rank == 0 ? 0 : 1; }});
  CHECK_THROWS_AS(uneven.allreduce(data, ht::ReduceOp::sum, "blueconnect"), ht::ValueError);
}

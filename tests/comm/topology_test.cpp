#include <catch2/catch.hpp>

#include <heatpp/comm/topology.hpp>

#include <cstdlib>

namespace ht = heatpp;

TEST_CASE("a given shape places ranks node by node", "[comm][topology]") {
  const auto& world = ht::world();
  if (world.size() % 2 != 0) {
    CHECK_THROWS_AS(ht::Topology(world, {.shape = {world.size() + 1, 2}}), ht::ValueError);
    return;
  }
  const ht::Topology topology(world, {.shape = {world.size() / 2, 2}});

  CHECK(topology.node().size() == 2);
  CHECK(topology.node().rank() == world.rank() % 2);
  CHECK(topology.across().size() == world.size() / 2);
  CHECK(topology.across().rank() == world.rank() / 2);
  CHECK(topology.uniform());
}

TEST_CASE("three levels have a group each", "[comm][topology]") {
  const auto& world = ht::world();
  if (world.size() != 4) return;
  const ht::Topology topology(world, {.shape = {2, 2, 1}});

  CHECK(topology.levels().size() == 3);
  CHECK(topology.node().size() == 1);
  CHECK(topology.across().size() == 4);
  CHECK_THAT(ht::comm::describe(topology), Catch::Contains("rack: groups of 2"));
}

TEST_CASE("nodes may be placed anyhow and hold different numbers of ranks", "[comm][topology]") {
  const auto& world = ht::world();
  const ht::Topology cyclic(world, {.node_of = [](int rank) { return 7 - rank % 2; }});
  const ht::Topology uneven(world, {.node_of = [](int rank) { return rank == 0 ? 0 : 1; }});

  CHECK(cyclic.node().size() == (world.size() + (world.rank() % 2 == 0)) / 2);
  CHECK(cyclic.node().rank() == world.rank() / 2);
  CHECK(uneven.uniform() == (world.size() <= 2));
}

TEST_CASE("the environment gives a shape, and a bad one is an error that quotes it", "[comm][topology]") {
  const auto& world = ht::world();
  ::setenv("HEATPP_TOPOLOGY", std::to_string(world.size()).append("x1").c_str(), 1);
  CHECK(ht::Topology(world).node().size() == 1);
  for (const char* bad : {"2x", "x2", "0x2", "2y2", "-1", "99999999999999x1"}) {
    ::setenv("HEATPP_TOPOLOGY", bad, 1);
    CHECK_THROWS_WITH(ht::Topology(world), Catch::Contains(bad));
  }
  ::setenv("HEATPP_TOPOLOGY", std::to_string(world.size() + 1).c_str(), 1);
  CHECK_THROWS_AS(ht::Topology(world), ht::ValueError);
  ::unsetenv("HEATPP_TOPOLOGY");
  CHECK(ht::Topology(world).node().size() == world.size());  // one machine
}

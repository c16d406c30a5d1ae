#include "../catch.hpp"

#include <heatpp/comm/detail/machine/hwloc.hpp>
#include <heatpp/comm/detail/machine/places.hpp>
#include <heatpp/comm/topology.hpp>

#include <sched.h>

#include <cstdlib>
#include <thread>

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
  ::setenv("HEATPP_ALLREDUCE", "rings", 1);
  CHECK_THROWS_WITH(ht::Topology(world), Catch::Contains("\"rings\"; expected one of native, ring"));
  ::unsetenv("HEATPP_ALLREDUCE");
}

TEST_CASE("the environment describes the program's ranks, of which some take their places", "[comm][topology]") {
  const auto& world = ht::world();
  if (world.size() != 4) return;
  ::setenv("HEATPP_TOPOLOGY", "2x2", 1);
  CHECK(ht::Topology(world).node().size() == 2);  // this reads the environment, which parts inherit
  const auto half = *world.split(world.rank() / 2), across = *world.split(world.rank() % 2);
  const auto backwards = *world.split(0, -world.rank()), one = *world.split(world.rank());
  const ht::Topology inside(half), between(across), reversed(backwards), alone(one);
  ::unsetenv("HEATPP_TOPOLOGY");
  CHECK(ht::Topology(world).node().size() == 4);

  CHECK(inside.node().size() == 2);
  CHECK(between.node().size() == 1);
  CHECK(between.across().size() == 2);
  CHECK(reversed.node().size() == 2);
  CHECK(alone.node().size() == 1);
  std::vector<std::int64_t> data(3000, 1);
  reversed.allreduce(data, {.algorithm = "blueconnect"});
  CHECK(data == std::vector<std::int64_t>(3000, 4));
}

TEST_CASE("a file places ranks anyhow, and a bad one is an error that quotes the line", "[comm][topology]") {
  const auto parsed =
      ht::detail::parse_places("# two racks\n rack0/a: 0, 3-4\nrack0/b: 2 # alone\n\nrack1/a: 1 5\n", 6);
  CHECK(parsed[0] == parsed[3]);
  CHECK(parsed[3] == parsed[4]);
  CHECK(parsed[0] != parsed[2]);
  CHECK(parsed[0][0] == parsed[2][0]);
  CHECK(parsed[1] == parsed[5]);
  CHECK(parsed[1][0] != parsed[0][0]);
  CHECK(parsed[1][1] != parsed[0][1]);
  for (const char* bad : {"a 0", ": 0", "a: x", "a: 3-2", "a: 0-"})
    CHECK_THROWS_WITH(ht::detail::parse_places(bad, 1), Catch::Contains(bad));
  CHECK_THROWS_WITH(ht::detail::parse_places("a: 0-1", 3), Catch::Contains("no place for rank 2"));
  CHECK_THROWS_WITH(ht::detail::parse_places("a: 0-3", 3), Catch::Contains("rank 3"));
  CHECK_THROWS_WITH(ht::detail::parse_places("a: 0\nb: 0", 2), Catch::Contains("line 2"));
  CHECK_THROWS_WITH(ht::detail::parse_places("a: 0\nb/c: 1", 2), Catch::Contains("levels"));
}

TEST_CASE("a machine that is given twice is an error", "[comm][topology]") {
  const auto& world = ht::world();
  CHECK_THROWS_WITH(ht::Topology(world, {.shape = {world.size()}, .node_of = [](int) { return 0; }}),
                    Catch::Contains("at most one"));
}

TEST_CASE("a file that is missing is an error on all ranks", "[comm][topology]") {
  CHECK_THROWS_AS(ht::Topology(ht::world(), {.file = "/nowhere/topology"}), ht::IoError);
  ::setenv("HEATPP_TOPOLOGY", "./nowhere", 1);
  CHECK_THROWS_AS(ht::Topology(ht::world()), ht::IoError);
  ::unsetenv("HEATPP_TOPOLOGY");
}

TEST_CASE("racks and nodes may differ in size, and the picture shows who sits where", "[comm][topology]") {
  const auto& world = ht::world();
  if (world.size() != 6) return;
  const auto place = [](int rank) { return std::vector{rank == 4 ? 1 : 0, rank % 2}; };
  const ht::Topology topology(world, {.place_of = place});

  CHECK(topology.levels().size() == 3);
  CHECK_FALSE(topology.uniform());
  CHECK(topology.node().size() == (world.rank() == 4 ? 1 : world.rank() % 2 ? 3 : 2));
  CHECK_THAT(ht::comm::describe(topology),
             Catch::Contains("├─ rack 0\n│  ├─ node 0: 0, 2\n│  └─ node 1: 1, 3, 5\n└─ rack 1"));
  CHECK_THROWS_WITH(ht::Topology(world, {.place_of = [](int rank) { return std::vector<int>(rank == 2 ? 2 : 1); }}),
                    Catch::Contains("rank 2"));
}

TEST_CASE("ranks that are bound to different packages of a node form a level", "[comm][topology]") {
  const auto& world = ht::world();
  cpu_set_t before, one;
  ::sched_getaffinity(0, sizeof before, &before);
  const bool possible = CPU_ISSET(0, &before) && CPU_ISSET(1, &before) && std::thread::hardware_concurrency() == 2;
  if (world.size() != 4 || !possible) return;
  ::setenv("HWLOC_SYNTHETIC", "package:2 core:1 pu:1", 1);  // for any machine
  ::setenv("HWLOC_THISSYSTEM", "1", 1);
  CPU_ZERO(&one);
  CPU_SET(world.rank() % 2, &one);
  ::sched_setaffinity(0, sizeof one, &one);
  const bool found = ht::detail::package_of_this_rank() == world.rank() % 2;
  const ht::Topology topology(world);
  ::sched_setaffinity(0, sizeof before, &before);
  ::unsetenv("HWLOC_SYNTHETIC");
  ::unsetenv("HWLOC_THISSYSTEM");
  const ht::Topology unbound(world);

  CHECK(topology.levels().size() == (found ? 3 : 2));
  CHECK(topology.node().size() == 4);
  CHECK(topology.across().size() == 1);
  CHECK(unbound.levels().size() == 2);
  if (found)
    CHECK_THAT(ht::comm::describe(topology),
               Catch::Contains("└─ node 0\n   ├─ package 0: 0, 2\n   └─ package 1: 1, 3"));
  std::vector<std::int64_t> data(100000, world.rank());
  for (const auto* algorithm : {"", "blueconnect", "tree"}) {
    topology.allreduce(data, ht::ReduceOp::max, algorithm);
    CHECK(data == std::vector<std::int64_t>(data.size(), 3));
  }
}

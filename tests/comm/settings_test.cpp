// These tests run alone, with environment variables that differ between the ranks.
#include "../catch.hpp"

#include <heatpp/comm/detail/progress/deadline.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <algorithm>
#include <cstdlib>

namespace ht = heatpp;

TEST_CASE("all ranks have the settings of rank 0", "[.settings]") {
  const auto& world = ht::world();
  std::array<std::int64_t, 1> given{std::getenv("HEATPP_TOPOLOGY") != nullptr};
  world.broadcast(given, 0);
  const bool of_rank_0 = given[0] != 0;

  const ht::Topology topology(world);
  CHECK(topology.node().size() == (of_rank_0 ? 2 : 4));
  CHECK(topology.state().settings->allreduce == (of_rank_0 ? "tree" : ""));
  CHECK(topology.state().settings->reproducible == of_rank_0);
  CHECK(topology.calibration().choices.empty() == !of_rank_0);
  CHECK(ht::detail::debugging(world) == of_rank_0);
  CHECK(ht::detail::debugging(*world.split(0)) == of_rank_0);
  // A part has the program's settings, also after a topology was made of it.
  const auto part = *world.split(world.rank() == 0 ? 0 : 1);
  const ht::Topology of_part(part, {.node_of = [](int) { return 0; }});
  CHECK(of_part.state().settings->debug == of_rank_0);
  CHECK(of_part.state().settings->reproducible == of_rank_0);
  CHECK(ht::detail::waits_are_limited() == of_rank_0);
  for (const std::size_t count : {3, 1 << 20}) {
    std::vector<float> data(count, static_cast<float>(world.rank() + 1));
    topology.allreduce(data);
    CHECK(std::ranges::all_of(data, [](float x) { return x == 10; }));
  }
}

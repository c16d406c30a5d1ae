// This is a program of its own, because it counts the allocations.
#include "../catch.hpp"

#include <heatpp/comm/topology.hpp>

#include "machines.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {
std::atomic<std::size_t> allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const block = std::malloc(bytes)) return block;
  throw std::bad_alloc();
}
// These cover all of malloc's memory, else sanitizers see two kinds; they are not inlined, else the compiler does.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace ht = heatpp;

namespace {

std::vector<float> values(std::size_t count, int seed) {
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i)
    data[i] = static_cast<float>((i * 31 + static_cast<std::size_t>(seed)) % 101) / 7;
  return data;
}

constexpr const char* algorithms[] = {"native", "ring", "recursive", "doubling", "tree", "blueconnect", "ordered", ""};

}  // namespace

TEST_CASE("each start of a plan gives the result of iallreduce", "[comm][plan]") {
  const auto& world = ht::world();
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    for (const auto* algorithm : algorithms)
      for (const std::size_t count : {0, 1, 500, 40000}) {
        const ht::AllreduceOptions options{.op = ht::ReduceOp::mean, .algorithm = algorithm};
        std::vector<float> data(count);
        auto plan = topology.plan(data, options);
        CHECK(plan.test());
        for (int round = 0; round < 3; ++round) {
          auto expected = values(count, round * 5 + world.rank());
          std::ranges::copy(expected, data.begin());
          plan.start();
          topology.iallreduce(expected, options).wait();
          if (round == 1)
            while (!plan.test()) {
            }
          else plan.wait();
          INFO(algorithm << " count " << count);
          CHECK((count == 0 || std::memcmp(data.data(), expected.data(), count * sizeof(float)) == 0));
        }
      }
  }
}

TEST_CASE("plans of 16-bit floats, integers and wire formats give the results of iallreduce", "[comm][plan]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank % 2; }});
  const std::int64_t count = 3001;
  std::vector<std::uint16_t> half(3001), half_expected;
  std::vector<float> coded(3001), coded_expected, lost(3001), lost_expected(3001);
  std::vector<std::int8_t> bytes(3001);
  auto of_half = topology.plan({half.data(), count, ht::bfloat16}, {.algorithm = "blueconnect"});
  auto of_coded = topology.plan(coded, {.wire = ht::Wire::int8, .residual = lost});
  auto of_bytes = topology.plan(bytes);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < half.size(); ++i)
      half[i] = static_cast<std::uint16_t>(0x3f80 + (i + 3u * static_cast<unsigned>(round)) % 99);
    half_expected = half;
    coded_expected = values(coded.size(), world.rank());
    std::ranges::copy(coded_expected, coded.begin());
    std::ranges::fill(bytes, std::int8_t{100});
    of_half.start();
    of_coded.start();
    of_bytes.start();
    of_bytes.wait();
    of_coded.wait();
    of_half.wait();
    topology.allreduce({half_expected.data(), count, ht::bfloat16}, {.algorithm = "blueconnect"});
    topology.allreduce(coded_expected, {.wire = ht::Wire::int8, .residual = lost_expected});
    CHECK(half == half_expected);
    CHECK(coded == coded_expected);
    CHECK(lost == lost_expected);
    CHECK(bytes == std::vector<std::int8_t>(bytes.size(), static_cast<std::int8_t>(100 * world.size())));
  }
}

TEST_CASE("plans may be under way together and waited for in any order", "[comm][plan]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
  std::vector<std::vector<std::int64_t>> data(20);
  std::vector<ht::AllreducePlan> plans;
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i].resize(i * 997);
    plans.push_back(topology.plan(data[i], {.algorithm = i % 3 == 0 ? "" : (i % 3 == 1 ? "blueconnect" : "tree")}));
  }
  const auto sum = world.size() * (world.size() + 1) / 2;
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::ranges::fill(data[i], world.rank() + 1);
      plans[i].start();
    }
    for (std::size_t i = 0; i < data.size(); ++i)
      plans[(i * 7 + static_cast<std::size_t>(world.rank())) % data.size()].wait();
    for (const auto& one : data) CHECK(one == std::vector<std::int64_t>(one.size(), sum));
  }
}

TEST_CASE("starts after the first allocate nothing", "[comm][plan]") {
  const auto& world = ht::world();
  for (const auto& options : {ht::TopologyOptions{},
                              {.node_of = [](int rank) { return rank / 2; }},
                              {.node_of = [](int rank) { return rank == 0 ? 0 : 1; }},
                              {.node_of = [](int rank) { return rank; }}}) {
    const ht::Topology topology(world, options);
    for (const auto* algorithm : algorithms)
      for (const std::size_t count : {3, 5000, 1 << 20}) {
        std::vector<float> data(count, 1), coded(count, 1), lost(count);
        std::vector<std::uint16_t> half(count, 0);
        auto plan = topology.plan(data, {.op = ht::ReduceOp::mean, .algorithm = algorithm});
        auto of_half = topology.plan({half.data(), std::ssize(half), ht::float16}, {.algorithm = algorithm});
        auto of_coded = topology.plan(coded, {.wire = ht::Wire::int8, .residual = lost});
        const auto round = [&] {
          for (auto* each : {&plan, &of_half, &of_coded}) each->start();
          for (auto* each : {&plan, &of_half, &of_coded}) each->wait();
        };
        round();
        round();  // lists have grown when all operations were under way
        const auto before = allocations.load();
        for (int i = 0; i < 5; ++i) round();
        const auto made = allocations.load() - before;
        INFO(algorithm << " count " << count);
        CHECK(made == 0);
        CHECK(data[count - 1] == 1);
      }
  }
}

TEST_CASE("a plan under way is not started, and waits when it ends", "[comm][plan]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank % 2; }});
  std::vector<std::int64_t> data(100000, 1), whole(3);
  {
    auto plan = topology.plan(data, {.algorithm = "blueconnect"});
    plan.start();
    CHECK_THROWS_WITH(plan.start(), Catch::Contains("under way"));
    auto moved = std::move(plan);
    CHECK_THROWS_WITH(plan.start(), Catch::Contains("moved"));
    plan.wait();
    CHECK(plan.test());
  }
  CHECK(data == std::vector<std::int64_t>(100000, world.size()));
  CHECK_THROWS_AS(topology.plan(whole, {.op = ht::ReduceOp::mean}), ht::TypeError);
  CHECK_THROWS_AS(topology.plan(whole, {.algorithm = "magic"}), ht::ValueError);
}

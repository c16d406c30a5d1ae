// Tests that ranks of a node exchange data through shared memory, if they share it.
#include "../catch.hpp"

#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/topology.hpp>

#include "machines.hpp"

#include <cstring>
#include <numeric>

namespace ht = heatpp;

namespace {

/// Returns the machine without shared memory.
ht::Topology by_messages(const ht::Communicator& comm, const ht::TopologyOptions& machine) {
  ht::Topology topology(comm, machine);
  topology.state().memory = {};
  return topology;
}

/// Returns small numbers that differ by rank; sums of floats among them depend on the order.
template <class T>
std::vector<T> numbers(std::size_t count, int rank) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i)
    data[i] = static_cast<T>(1 + (i * 7919 + static_cast<std::size_t>(rank) * 104729) % 97) / static_cast<T>(3);
  return data;
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

std::vector<std::int64_t> uneven_counts(int ranks, std::int64_t unit) {
  std::vector<std::int64_t> counts;
  for (int r = 0; r < ranks; ++r) counts.push_back((ranks - r) % 3 * unit + r % 2);
  return counts;
}

}  // namespace

TEST_CASE("nodes of several ranks share memory, and all ranks know", "[comm][memory]") {
  const auto& world = ht::world();
  const bool may_share = world.impl().settings->shared_memory;
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    const auto& state = topology.state();
    const bool shares = may_share && state.largest_node > 1;
    CHECK(state.memory.level == (shares ? 0 : -1));
    CHECK((state.memory.channels != nullptr) == (shares && topology.node().size() > 1));
    CHECK((ht::comm::describe(topology).find("by shared memory") != std::string::npos) == shares);
  }
}

TEMPLATE_TEST_CASE("memory carries every dtype and changes no bit", "[comm][memory]", std::int8_t, std::int32_t,
                   std::int64_t, float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  const auto& world = ht::world();
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine), messages = by_messages(world, machine);
    for (const std::size_t count : {0, 5, 40000})
      for (const auto op : {ht::ReduceOp::prod, ht::ReduceOp::mean}) {
        if (op == ht::ReduceOp::mean && std::is_integral_v<T>) continue;
        const auto mine = numbers<T>(count, world.rank());
        for (const auto* algorithm : {"blueconnect", "tree"}) {
          auto shared = mine, sent = mine;
          topology.allreduce(shared, op, algorithm);
          messages.allreduce(sent, op, algorithm);
          CHECK(same_bytes(shared, sent));
        }
      }
  }
}

TEST_CASE("memory carries 16-bit floats and wire formats and changes no bit", "[comm][memory]") {
  const auto& world = ht::world();
  const std::size_t count = 50001;
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine), messages = by_messages(world, machine);
    for (const auto dtype : {ht::float16, ht::bfloat16}) {
      std::vector<std::uint16_t> shared(count), sent;
      for (std::size_t i = 0; i < count; ++i)
        shared[i] = static_cast<std::uint16_t>(0x3c00 + (i + static_cast<std::size_t>(world.rank())) % 500);
      sent = shared;
      topology.allreduce({shared.data(), std::ssize(shared), dtype}, {.algorithm = "blueconnect"});
      messages.allreduce({sent.data(), std::ssize(sent), dtype}, {.algorithm = "blueconnect"});
      CHECK(same_bytes(shared, sent));
    }
    for (const auto wire : {ht::Wire::bfloat16, ht::Wire::int8, ht::Wire::int4, ht::Wire::float4}) {
      std::vector<float> lost(count), lost_too(count);
      for (int round = 0; round < 2; ++round) {
        auto shared = numbers<float>(count, world.rank()), sent = shared;
        topology.allreduce(shared, {.op = ht::ReduceOp::mean, .wire = wire, .residual = lost});
        messages.allreduce(sent, {.op = ht::ReduceOp::mean, .wire = wire, .residual = lost_too});
        CHECK(same_bytes(shared, sent));
        CHECK(same_bytes(lost, lost_too));
      }
    }
  }
}

TEST_CASE("memory carries parts and broadcasts", "[comm][memory]") {
  const auto& world = ht::world();
  const auto me = static_cast<std::size_t>(world.rank());
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine), messages = by_messages(world, machine);
    for (const std::int64_t unit : {0, 3, 200001}) {
      const auto counts = uneven_counts(world.size(), unit);
      const auto total = static_cast<std::size_t>(std::reduce(counts.begin(), counts.end()));
      const auto first = std::reduce(counts.begin(), counts.begin() + world.rank());
      auto shared = numbers<double>(total, world.rank()), sent = shared;
      topology.reduce_scatter(shared, counts);
      messages.reduce_scatter(sent, counts);
      const auto mine = [&](const std::vector<double>& all) {
        return std::vector(all.begin() + first, all.begin() + first + counts[me]);
      };
      CHECK(same_bytes(mine(shared), mine(sent)));
      topology.allgather({shared.data() + first, counts[me], ht::float64}, shared, counts);
      messages.allgather({sent.data() + first, counts[me], ht::float64}, sent, counts);
      CHECK(same_bytes(shared, sent));
      const int root = world.size() - 1;
      auto told = numbers<double>(total, world.rank()), reduced = told, reduced_by_messages = told;
      topology.broadcast(told, root);
      CHECK(same_bytes(told, numbers<double>(total, root)));
      topology.reduce(reduced, root);
      messages.reduce(reduced_by_messages, root);
      if (world.rank() == root) CHECK(same_bytes(reduced, reduced_by_messages));
    }
  }
}

TEST_CASE("calls on several topologies may share a node's memory, in any order of waiting", "[comm][memory]") {
  const auto& world = ht::world();
  const ht::Topology node(world), nodes(world, {.node_of = [](int rank) { return rank / 2; }}), again(world);
  std::vector<std::vector<std::int64_t>> data(60);
  std::vector<ht::Request> requests;
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i].assign(i * i * 10, world.rank() + 1);
    const auto& topology = i % 3 == 0 ? node : (i % 3 == 1 ? nodes : again);
    requests.push_back(topology.iallreduce(data[i], ht::ReduceOp::sum, i % 2 == 0 ? "blueconnect" : "tree"));
  }
  for (std::size_t i = data.size(); i-- > 0;) requests[(i * 7 + static_cast<std::size_t>(world.rank())) % 60].wait();
  const auto sum = world.size() * (world.size() + 1) / 2;
  for (const auto& one : data) CHECK(one == std::vector<std::int64_t>(one.size(), sum));
}

TEST_CASE("a calibrated choice of rings or balanced orders gives the exact sum, equal on all ranks", "[comm][memory]") {
  const auto& world = ht::world();
  if (world.size() % 2 != 0 || world.size() == 2) return;
  const ht::Topology topology(world, {.shape = {2, world.size() / 2}});
  const auto any = std::numeric_limits<std::int64_t>::max();
  topology.state().calibration = {
      {{"node", 1e-6, 1e9}, {"cluster", 1e-6, 1e9}},
      {{1000, "blueconnect", 0, 0, {}, false, true}, {any, "blueconnect", 4096, 0, {}, true}}};
  for (const std::size_t count : {0, 1, 100, 1000, 100000}) {
    std::vector<std::int64_t> data(count, world.rank() + 1);
    topology.allreduce(data);
    CHECK(data == std::vector<std::int64_t>(count, world.size() * (world.size() + 1) / 2));
    auto floats = numbers<float>(count, world.rank()), first = floats, second = floats;
    topology.allreduce(first);
    topology.allreduce(second);
    CHECK(same_bytes(first, second));
    world.broadcast(second, 0);
    CHECK(same_bytes(first, second));
  }
}

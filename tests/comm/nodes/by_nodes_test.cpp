#include "../../catch.hpp"

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/shared/by_nodes.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <cmath>
#include <complex>
#include <numeric>

namespace ht = heatpp;

namespace {

/// Returns all ranks as if they were on nodes, each with memory of its own; nothing if that takes no nodes.
std::optional<ht::Communicator> on_nodes(int (*node_of)(int rank)) {
  auto comm = *ht::world().split(0);
  comm.impl().segment = nullptr;
  ht::detail::find_topology(comm, {.node_of = node_of});
  return comm.impl().machine->groups ? std::optional(comm) : std::nullopt;
}

template <class T>
void check_sums(const ht::Communicator& comm, std::size_t count) {
  std::vector<T> data(count), expected(count);
  for (std::size_t i = 0; i < count; ++i)
    for (int rank = 0; rank < comm.size(); ++rank) {
      const auto value = static_cast<T>(static_cast<double>(i % 7) + rank);
      if (rank == comm.rank()) data[i] = value;
      expected[i] += value;
    }
  comm.allreduce(data);
  CHECK(data == expected);
}

}  // namespace

TEST_CASE("small all-reduces go by nodes", "[comm][nodes]") {
  for (const auto node_of :
       {+[](int rank) { return rank / 2; }, +[](int rank) { return rank / 3; }, +[](int rank) { return rank % 2; },
        +[](int rank) { return rank == 1 ? 7 : 3; }, +[](int rank) { return rank; }, +[](int) { return 0; }}) {
    const auto comm = on_nodes(node_of);
    std::vector<int> ranks_of(10, 0);
    for (int rank = 0; rank < ht::world().size(); ++rank) ++ranks_of[static_cast<std::size_t>(node_of(rank))];
    const auto nodes = std::ranges::count_if(ranks_of, [](int ranks) { return ranks > 0; });
    const bool several = nodes > 1 && std::ranges::max(ranks_of) > 1 && ht::world().impl().settings->shared_memory;
    REQUIRE(comm.has_value() == several);
    if (!comm) continue;
    const auto& groups = *comm->impl().machine->groups;
    CHECK(groups.leaders.has_value() == (groups.node.rank() == 0));
    if (groups.leaders) CHECK(groups.leaders->size() == nodes);
    for (const std::size_t count : {1, 3, 500, 512, 1024, 5000}) {  // the last ones exceed 4 KiB
      check_sums<std::int64_t>(*comm, count);
      check_sums<double>(*comm, count);
      check_sums<std::complex<double>>(*comm, count);
    }
    const auto p = comm->size();
    std::vector<double> extremes{double(comm->rank()), comm->rank() == 0 ? std::nan("") : 1.0};
    comm->allreduce(extremes, ht::ReduceOp::max);
    CHECK(extremes[0] == p - 1);
    CHECK(std::isnan(extremes[1]));
    std::vector<float> mean{static_cast<float>(comm->rank())};
    comm->allreduce(mean, ht::ReduceOp::mean);
    CHECK(mean[0] == Approx((p - 1) / 2.0));
    // Several at once, in the order of the calls.
    std::vector<std::vector<std::int64_t>> many(20, {comm->rank(), 1});
    std::vector<ht::Request> requests;
    for (auto& one : many) requests.push_back(comm->iallreduce(one));
    comm->barrier();
    ht::wait_all(requests);
    for (const auto& one : many) CHECK(one == std::vector<std::int64_t>{p * (p - 1) / 2, p});
    comm->agree(std::nullopt);
    CHECK_THROWS_AS(comm->agree(ht::Communicator::Failure{ht::ErrorKind::value, "wrong"}), ht::ValueError);
  }
}

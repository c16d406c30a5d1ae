#include "../../catch.hpp"

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/shared/two_hops.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <numeric>

namespace ht = heatpp;

namespace {

using NodeOf = int (*)(int rank);

/// Returns all ranks as if they were on these nodes.
ht::Communicator ranks_on_nodes(NodeOf node_of) {
  auto comm = *ht::world().split(0);
  comm.impl().segment = nullptr;
  ht::detail::find_topology(comm, {.node_of = node_of});
  return comm;
}

/// Nodes in blocks and in turns, of different size, of one rank, and a single one.
NodeOf some_nodes() {
  return GENERATE(NodeOf([](int rank) { return rank / 2; }), NodeOf([](int rank) { return rank % 2; }),
                  NodeOf([](int rank) { return rank % 3; }), NodeOf([](int rank) { return rank / 3; }),
                  NodeOf([](int rank) { return rank == 1 ? 7 : 3; }), NodeOf([](int rank) { return rank; }),
                  NodeOf([](int rank) { return (7 - rank) / 3; }), NodeOf([](int) { return 0; }));
}

/// Numbers that rank `from` sends to rank `to`: at most `most`, sometimes none.
std::vector<std::int32_t> numbers_between(int from, int to, int most) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>((7 * from + 5 * to) % (most + 1)));
  std::iota(numbers.begin(), numbers.end(), 1000 * from + 100 * to);
  return numbers;
}

}  // namespace

TEST_CASE("blocks of any size reach their ranks in two hops", "[comm][nodes]") {
  const auto comm = ranks_on_nodes(some_nodes());
  const auto most = GENERATE(0, 1, 3, 4000);
  const auto batches = GENERATE(1, 2, 100);
  std::vector<std::vector<std::int32_t>> out, in;
  ht::detail::Sends send;
  ht::detail::Receives receive;
  for (int rank = 0; rank < comm.size(); ++rank) {
    out.push_back(numbers_between(comm.rank(), rank, most));
    in.emplace_back(2 * numbers_between(rank, comm.rank(), most).size(), -1);
  }
  for (int rank = comm.size() - 1; rank >= 0; --rank) {  // in any order; empty blocks may be missing
    const auto i = static_cast<std::size_t>(rank);
    const auto bytes = std::ssize(out[i]) * 4, runs = std::ssize(in[i]) / 2;
    if (bytes > 0 || rank % 2)
      send.push_back({rank, {reinterpret_cast<const std::byte*>(out[i].data()), 1, bytes, bytes}});
    if (runs > 0) receive.push_back({rank, {reinterpret_cast<std::byte*>(in[i].data()), runs, 4, 8}});  // strided
  }

  ht::detail::run(ht::detail::two_hops(comm, send, receive, (std::int64_t{4} << 20) * batches, "exchange"));

  bool right = true;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto expected = numbers_between(rank, comm.rank(), most);
    const auto& got = in[static_cast<std::size_t>(rank)];
    for (std::size_t k = 0; k < got.size(); ++k) right = right && got[k] == (k % 2 ? -1 : expected[k / 2]);
  }
  CHECK(right);
}

TEST_CASE("an alltoall in two hops gives every rank its numbers", "[comm][nodes]") {
  const auto comm = ranks_on_nodes(some_nodes());
  std::vector<std::int64_t> values, received(static_cast<std::size_t>(comm.size())), expected;
  for (int rank = 0; rank < comm.size(); ++rank) {
    values.push_back((std::int64_t{1} << 40) + 100 * comm.rank() + rank);
    expected.push_back((std::int64_t{1} << 40) + 100 * rank + comm.rank());
  }

  ht::detail::run(ht::detail::alltoall_in_two_hops(comm, values, received));

  CHECK(received == expected);
  CHECK(comm.alltoall(values) == expected);
}

TEST_CASE("small blocks take two hops if that saves messages", "[comm][nodes]") {
  const auto pairs = ranks_on_nodes([](int rank) { return rank / 2; }),
             alone = ranks_on_nodes([](int rank) { return rank; }), together = ranks_on_nodes([](int) { return 0; });
  // In pairs a rank sends P / 2 - 1 messages between nodes, and two in the node.
  const std::int64_t saved = pairs.size() - 1 - ((pairs.size() + 1) / 2 - 1 + 2);
  const auto most = ht::detail::small_bytes * saved / 3;  // three copies cost no more than these messages
  CHECK(ht::detail::worth_two_hops(pairs, most) == (saved > 0));
  CHECK_FALSE(ht::detail::worth_two_hops(pairs, std::max<std::int64_t>(0, most) + 1));
  CHECK_FALSE(ht::detail::worth_two_hops(alone, 8));
  CHECK_FALSE(ht::detail::worth_two_hops(together, 8));
}

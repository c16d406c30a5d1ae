// Tests that the collectives of communicators go by the levels of the machine, on machines that are made up.
#include "../../catch.hpp"
#include "../machines.hpp"

#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <cmath>
#include <numeric>

namespace ht = heatpp;

namespace {

/// Returns all ranks as if they were on that machine.
ht::Communicator on(const ht::TopologyOptions& machine) {
  auto comm = *ht::world().split(0);
  ht::detail::find_topology(comm, machine);
  return comm;
}

/// Values whose sums depend on their order.
std::vector<float> uneven_values(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::sin(static_cast<float>(i % 997) + 31.F * static_cast<float>(rank));
  return values;
}

/// Element i of rank r's data; whole, so that sums are exact.
std::int64_t element(int rank, std::size_t i) { return rank + static_cast<std::int64_t>(i % 13); }
std::vector<std::int64_t> elements(int rank, std::size_t count) {
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element(rank, i);
  return values;
}
std::int64_t sum_of_ranks(int ranks, std::size_t i) {
  return ranks * static_cast<std::int64_t>(i % 13) + ranks * (ranks - 1) / 2;
}

/// Rank r has r + 1 times as many elements as rank 0.
std::vector<std::int64_t> growing_counts(int ranks, std::int64_t first) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) counts[static_cast<std::size_t>(rank)] = first * (rank + 1);
  return counts;
}

std::int64_t begin_of(const std::vector<std::int64_t>& counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
}

// Small, of a few pages, and large enough for levels.
constexpr std::array<std::size_t, 3> sizes{3, 1500, 30000};

}  // namespace

TEST_CASE("all-reduces of communicators are right on every machine", "[comm][levels]") {
  for (const auto& machine : machines(ht::world().size())) {
    const auto comm = on(machine);
    const auto p = comm.size();
    for (const auto count : sizes)
      for (const bool waits : {false, true, false}) {  // before a blocking call there is no memory for schedules
        const auto reduce = [&](auto& data, ht::ReduceOp op) {
          if (waits) comm.allreduce(data, op);
          else comm.iallreduce(data, op).wait();
        };
        auto whole = elements(comm.rank(), count);
        reduce(whole, ht::ReduceOp::sum);
        std::vector<double> most(count, comm.rank() == p - 1 ? 7 : -comm.rank());
        if (comm.rank() == 0) most[1] = std::nan("");
        reduce(most, ht::ReduceOp::max);
        std::vector<std::uint8_t> least(count, static_cast<std::uint8_t>(9 + comm.rank()));
        reduce(least, ht::ReduceOp::min);
        std::vector<float> mean(count, static_cast<float>(comm.rank()));
        reduce(mean, ht::ReduceOp::mean);
        std::vector<std::int32_t> product(count, 1 + comm.rank() % 2);
        reduce(product, ht::ReduceOp::prod);
        bool right = true;
        for (std::size_t i = 0; i < count; ++i)
          right = right && whole[i] == sum_of_ranks(p, i) && (i == 1 ? std::isnan(most[i]) : most[i] == 7) &&
                  least[i] == 9 && std::abs(mean[i] - static_cast<float>(p - 1) / 2) < 1e-6F &&
                  product[i] == 1 << p / 2;
        CHECK(right);
      }
  }
}

TEST_CASE("an all-reduce has the same bits whether it waits or not, and on all ranks", "[comm][levels]") {
  for (const auto& machine : machines(ht::world().size())) {
    const auto comm = on(machine);
    for (const auto count : sizes) {
      auto before = uneven_values(comm.rank(), count), now = before, after = before;
      comm.iallreduce(before).wait();
      comm.allreduce(now);
      comm.iallreduce(after).wait();
      CHECK(before == now);
      CHECK(before == after);
      auto least = now, most = now;
      comm.allreduce(least, ht::ReduceOp::min);
      comm.allreduce(most, ht::ReduceOp::max);
      CHECK(least == most);
    }
  }
}

TEST_CASE("parts and broadcasts of communicators are right on every machine", "[comm][levels]") {
  for (const auto& machine : machines(ht::world().size())) {
    const auto comm = on(machine);
    const auto p = comm.size();
    for (const std::int64_t first : {1, 6000})
      for (const bool waits : {false, true}) {
        const auto counts = growing_counts(p, first);
        const auto total = begin_of(counts, p), begin = begin_of(counts, comm.rank());
        const auto mine = counts[static_cast<std::size_t>(comm.rank())];
        auto sums = elements(comm.rank(), static_cast<std::size_t>(total));
        if (waits) comm.reduce_scatter(sums, counts);
        else comm.ireduce_scatter(sums, counts).wait();
        bool right = true;
        for (auto i = begin; i < begin + mine; ++i)
          right = right && sums[static_cast<std::size_t>(i)] == sum_of_ranks(p, static_cast<std::size_t>(i));
        CHECK(right);

        std::vector<std::int64_t> part(static_cast<std::size_t>(mine)), all(static_cast<std::size_t>(total));
        std::iota(part.begin(), part.end(), begin);
        if (waits) comm.allgather(part, all, counts);
        else comm.iallgather(part, all, counts).wait();
        std::vector<std::int64_t> expected(all.size());
        std::iota(expected.begin(), expected.end(), std::int64_t{0});
        CHECK(all == expected);

        const auto root = (p + 1) / 2 % p;
        auto data = elements(comm.rank(), static_cast<std::size_t>(total));
        if (waits) comm.broadcast(data, root);
        else comm.ibroadcast(data, root).wait();
        CHECK(data == elements(root, data.size()));
        auto sum = elements(comm.rank(), static_cast<std::size_t>(total));
        comm.reduce(sum, root);
        for (std::size_t i = 0; i < sum.size() && comm.rank() == root; ++i)
          right = right && sum[i] == sum_of_ranks(p, i);
        CHECK(right);
      }
  }
}

TEST_CASE("between nodes, each of g ranks of a node sends 1 / g of the data", "[comm][levels]") {
  const auto p = ht::world().size();
  if (p % 2 != 0 || p < 4) return;
  const bool cyclic = GENERATE(false, true);
  const auto nodes = [=](int rank) { return cyclic ? rank % 2 : rank / (ht::world().size() / 2); };
  const auto comm = on({.node_of = nodes});
  const auto sent = [&] { return comm.impl().traffic->at(1).bytes.load(); };
  constexpr std::int64_t count = 8 * 9 * 4096;
  std::vector<float> data(static_cast<std::size_t>(count), 1);
  const auto bytes = count * 4, share = bytes / (p / 2);

  comm.allreduce(data);
  CHECK(sent() == share);  // half of its share there, and half back
  comm.iallreduce(data).wait();
  CHECK(sent() == 2 * share);
  comm.reduce_scatter(data, std::vector<std::int64_t>(static_cast<std::size_t>(p), count / p));
  CHECK(sent() == 2 * share + share / 2);
}

TEST_CASE("several all-reduces under way meet the first that waits", "[comm][levels]") {
  for (const auto& machine : machines(ht::world().size())) {
    const auto comm = on(machine);
    std::vector<std::vector<std::int64_t>> many(6, elements(comm.rank(), 20000));
    std::vector<ht::Request> requests;
    for (std::size_t i = 0; i < 3; ++i) requests.push_back(comm.iallreduce(many[i]));
    auto waited = elements(comm.rank(), 20000);
    comm.allreduce(waited);  // this one makes the memory
    for (std::size_t i = 3; i < 6; ++i) requests.push_back(comm.iallreduce(many[i]));
    ht::wait_all(requests);
    for (const auto& one : many) CHECK(one == waited);
    CHECK(waited[5] == sum_of_ranks(comm.size(), 5));
  }
}

#include "../catch.hpp"

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/comm/progress_thread.hpp>
#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace ht = heatpp;

namespace {

void keep_sum(const void* in, void* inout, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<std::int64_t*>(inout)[i] += static_cast<const std::int64_t*>(in)[i];
}

/// Returns every blocking call of a group.
const std::vector<std::pair<const char*, std::function<void(const ht::Communicator&)>>> blocking_calls{
    {"barrier", [](const auto& comm) { comm.barrier(); }},
    {"allreduce",
     [](const auto& comm) {
       std::vector<double> small(3), large(100000);
       comm.allreduce(small);
       comm.allreduce(large);
     }},
    {"scan",
     [](const auto& comm) {
       std::vector<double> data(100);
       comm.exscan(data);
       comm.scan(data);
     }},
    {"allreduce_records",
     [](const auto& comm) {
       std::vector<std::int64_t> data(100);
       comm.allreduce_records(data.data(), 100, 8, &keep_sum);
     }},
    {"broadcast",
     [](const auto& comm) {
       std::vector<double> data(100000);
       comm.broadcast(data, comm.size() - 1);
     }},
    {"reduce, reduce_scatter, allgather, gather and scatter",
     [](const auto& comm) {
       const std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), 1000);
       std::vector<double> data(1000 * counts.size()), mine(1000);
       comm.reduce(data, 0);
       comm.reduce_scatter(data, counts);
       comm.allgather(mine, data, counts);
       comm.gather(mine, data, counts, 0);
       comm.scatter(data, mine, counts, 0);
     }},
    {"allgather and alltoall of numbers",
     [](const auto& comm) {
       const auto all = comm.allgather(std::int64_t{1});
       CHECK(comm.alltoall(all) == all);
     }},
    {"exchange",
     [](const auto& comm) {
       const auto p = static_cast<std::size_t>(comm.size());
       std::vector<std::byte> out(p * 1000), in(out);
       std::vector<ht::ConstBlock> send;
       std::vector<ht::Block> receive;
       for (std::size_t r = 0; r < p; ++r) {
         send.push_back({out.data() + r * 1000, 1, 1000, 1000});
         receive.push_back({in.data() + r * 1000, 1, 1000, 1000});
       }
       comm.exchange(send, receive);
     }},
    {"split", [](const auto& comm) { CHECK(comm.split(0)->size() == comm.size()); }},
    {"split_shared", [](const auto& comm) { CHECK(comm.split_shared().size() == comm.size()); }},
    {"agree", [](const auto& comm) { ht::all_or_none(comm, [] {}); }},
    {"from_mpi", [](const auto& comm) { CHECK(ht::from_mpi(ht::to_mpi(comm)).size() == comm.size()); }},
    {"Topology", [](const auto& comm) { CHECK(ht::Topology(comm).comm().size() == comm.size()); }},
};

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

}  // namespace

TEST_CASE("operations under way make progress in every blocking call", "[comm][progress]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank % 2; }});
  const auto others = ht::from_mpi(MPI_COMM_WORLD);
  for (const auto& [name, call] : blocking_calls) {
    std::vector<float> data(1 << 18, 1);
    auto request = topology.iallreduce(data, ht::ReduceOp::sum, "blueconnect");
    if (world.rank() != 0) request.wait();  // it needs rank 0's part, and rank 0 is in the call
    call(others);
    request.wait();
    INFO(name);
    CHECK(data[1 << 17] == static_cast<float>(world.size()));
  }
}

TEST_CASE("operations under way make progress during a blocking message", "[comm][progress]") {
  const auto& world = ht::world();
  if (world.size() == 1) return;
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank % 2; }});
  std::vector<float> data(1 << 18, 1), message(1 << 18, 3);
  auto request = topology.iallreduce(data, ht::ReduceOp::sum, "blueconnect");
  if (world.rank() == 0) world.send(message, 1);
  request.wait();
  if (world.rank() == 1) world.receive(message, 0);
  CHECK(data[7] == static_cast<float>(world.size()));
  CHECK(message[7] == 3);
}

TEST_CASE("blocking calls make no threads", "[comm][progress]") {
  const auto& world = ht::world();
  if (world.size() == 1) return;
  float late = 0;
  auto pending = world.rank() == 0 ? world.ireceive({&late, 1, ht::float32}, 1) : ht::Request();
  const auto before = threads_of_this_process();
  std::ptrdiff_t most = 0;
  for (int i = 0; i < 50; ++i) {
    world.barrier();
    most = std::max(most, threads_of_this_process());
  }
  const float sent = 5;
  if (world.rank() == 1) world.send({&sent, 1, ht::float32}, 0);
  pending.wait();

  CHECK(most == before);
  if (world.rank() == 0) CHECK(late == 5);
}

// The name puts this test before all tests that have a progress thread.
TEST_CASE("MPI without threads gives no progress thread, which is said once", "[comm][progress]") {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  const auto before = threads_of_this_process();
  std::vector<std::string> said;
  ht::set_log(
      [&](ht::LogLevel at, std::string_view text) {
        if (at == ht::LogLevel::warning) said.emplace_back(text);
      },
      {.all_ranks = true});
  const ht::ProgressThread first(std::chrono::milliseconds(1)), second(std::chrono::milliseconds(1));
  ht::set_log({});

  const bool has_threads = level == MPI_THREAD_MULTIPLE;
  CHECK(threads_of_this_process() == before + (has_threads ? 2 : 0));
  CHECK(said.size() == (has_threads ? 0 : 1));
  if (!said.empty()) CHECK_THAT(said[0], Catch::Contains("MPI_THREAD_MULTIPLE"));
}

TEST_CASE("working beside blocking calls, a progress thread changes no result", "[comm][progress]") {
  const auto& world = ht::world();
  const ht::Topology node(world), nodes(world, {.node_of = [](int rank) { return rank % 2; }});
  const ht::ProgressThread thread(std::chrono::microseconds(20));
  for (int round = 0; round < 40; ++round) {
    std::vector<std::int64_t> data(20000, 1), other(data), small(3, 1);
    if (round % world.size() == world.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    auto first = node.iallreduce(data), second = nodes.iallreduce(other, ht::ReduceOp::sum, "blueconnect");
    node.allreduce(small);
    nodes.allreduce(small, ht::ReduceOp::max);
    world.barrier();
    second.wait();
    first.wait();
    CHECK(data == std::vector<std::int64_t>(20000, world.size()));
    CHECK(other == data);
    CHECK(small == std::vector<std::int64_t>(3, world.size()));
  }
}

TEST_CASE("memory of operations that were given up is not used again", "[comm][progress]") {
  using namespace ht::detail;
  const auto& world = ht::world();
  const auto pair = *world.split(world.rank() / 2);
  if (pair.size() == 1) return;
  std::vector<std::int64_t> data(3000, 1 + pair.rank());
  const ht::Buffer buffer(data);
  const auto start = [&] {
    auto steps = ht::comm::doubling(side_by_side(2), {pair.rank(), buffer.count, 8});
    return then(std::make_unique<Execution>(pair, std::move(steps), buffer, ht::ReduceOp::sum), [] {});
  };
  if (pair.rank() == 1) MPI_Barrier(ht::to_mpi(pair));
  auto operation = start();
  if (pair.rank() == 1) {
    run(std::move(operation));
    CHECK(pair.split(0)->size() == 2);
    return;
  }
  const auto* const taken = Scratch(buffer.bytes()).data();  // the pool would give this next
  CHECK_FALSE(operation->advance());
  CHECK(operation->in_flight());
  abandon(std::move(operation), nullptr);
  const Scratch next(buffer.bytes());
  std::fill_n(reinterpret_cast<std::int64_t*>(next.data()), 3000, 7);
  MPI_Barrier(ht::to_mpi(pair));
  CHECK(pair.split(0)->size() == 2);  // the other rank's message arrives before this call ends

  CHECK(next.data() != taken);
  CHECK(std::count(reinterpret_cast<std::int64_t*>(next.data()), reinterpret_cast<std::int64_t*>(next.data()) + 3000,
                   7) == 3000);
}

TEST_CASE("many requests end together, or the first of them", "[comm][progress]") {
  const auto& world = ht::world();
  const auto p = static_cast<std::size_t>(world.size());
  std::vector<std::int64_t> from(p), sum(10, 1);
  std::vector<ht::Request> requests;
  for (int r = 0; r < world.size(); ++r) {
    requests.push_back(world.ireceive({&from[static_cast<std::size_t>(r)], 1, ht::int64}, r, 7));
    const std::int64_t mine = world.rank();
    world.send({&mine, 1, ht::int64}, r, 7);
  }
  requests.push_back(world.iallreduce(sum));
  std::vector<bool> seen(requests.size(), false);
  for (std::size_t i = 0; i < p; ++i) seen.at(*ht::wait_any(requests)) = true;
  ht::wait_all(requests);

  CHECK(std::ranges::count(seen, true) == std::ssize(from));
  CHECK_FALSE(ht::wait_any(requests).has_value());
  for (std::size_t r = 0; r < p; ++r) CHECK(from[r] == static_cast<std::int64_t>(r));
  CHECK(sum[9] == world.size());
}

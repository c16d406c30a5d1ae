// Tests the order of operations, and their devices.
#include <heatpp/comm/progress_thread.hpp>
#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "device_memory.hpp"

namespace ht = heatpp;

namespace {

constexpr std::array stream_backends{"nccl", "nccl,staged", "staged"};

/// A kernel that takes several calls.
int long_one(void* turns) { return --*static_cast<int*>(turns) <= 0; }
/// A kernel that ends when a flag is set.
int told_to_end(void* flag) { return static_cast<std::atomic<bool>*>(flag)->load(); }

/// Returns what is in the array when the stream gets there.
std::vector<float> seen_by(const TestStream& stream, const DeviceArray<float>& data, std::size_t count) {
  std::vector<float> host(count, -1);
  stream.copy(host.data(), data.data(), sizeof(float) * count);
  stream.synchronize();
  return host;
}

}  // namespace

TEST_CASE_METHOD(WatchedDevices, "threads without a device get none, and no other device a context", "[comm][device]") {
  const auto& world = ht::world();
  for (const auto* backend : stream_backends) {
    const Variable variable("HEATPP_BACKEND", backend);
    const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
    DeviceArray here(ramp(3000, world.rank() + 1)), there(ramp(3000, world.rank() + 1));
    {
      const ht::ProgressThread thread(std::chrono::microseconds(20));
      topology.iallreduce(here, {.chunk_bytes = 3000}).wait();
    }
    int current = -2;
    std::thread([&] {
      topology.allreduce(there, {.chunk_bytes = 3000});
      if (!real_devices()) current = TEST_CUDA(standin_current)();
    }).join();
    CHECK(here.to_host() == ramp(3000, sum_to(world.size())));
    CHECK(there.to_host() == ramp(3000, sum_to(world.size())));
    if (!real_devices()) CHECK(current == -1);
  }
}

TEST_CASE_METHOD(WatchedDevices, "parts and whole may be in different streams", "[comm][device]") {
  if (real_devices()) return;
  const auto& world = ht::world();
  const auto p = static_cast<std::size_t>(world.size());
  const std::vector<std::int64_t> counts(p, 7);
  const std::vector<float> nothing(7 * p, 0);
  for (const auto* backend : {"nccl", "staged"})
    for (const bool late_parts : {true, false}) {
      const Variable variable("HEATPP_BACKEND", backend);
      const TestStream parts, whole;
      const auto values = ramp(7, world.rank() + 1);
      DeviceArray mine(std::vector<float>(7, 0)), all(nothing);
      CHECK(mine.to_host() == std::vector<float>(7, 0));
      CHECK(all.to_host() == nothing);
      int turns = 40;
      (late_parts ? parts : whole).put(&long_one, &turns);
      whole.copy(all.data(), nothing.data(), sizeof(float) * nothing.size());
      parts.copy(mine.data(), values.data(), sizeof(float) * values.size());

      world.allgather(mine.in(parts), all.in(whole), counts);

      std::vector<float> expected;
      for (int r = 0; r < world.size(); ++r) std::ranges::copy(ramp(7, r + 1), std::back_inserter(expected));
      CHECK(all.to_host() == expected);
    }
}

TEST_CASE_METHOD(WatchedDevices, "a stream waits for a request, by every backend", "[comm][device]") {
  const auto& world = ht::world();
  for (const auto* backend : stream_backends)
    for (const std::string_view algorithm : {"", "blueconnect", "ring"}) {
      const Variable variable("HEATPP_BACKEND", backend);
      const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
      const TestStream before, after;
      const auto values = ramp(3000, world.rank() + 1);
      DeviceArray data(std::vector<float>(3000, 0));
      CHECK(data.to_host() == std::vector<float>(3000, 0));
      before.copy(data.data(), values.data(), sizeof(float) * values.size());

      auto request = topology.iallreduce(data.in(before), {.algorithm = algorithm, .chunk_bytes = 3000});
      request.wait_on(after.memory());

      INFO(backend << " " << algorithm);
      CHECK(seen_by(after, data, 3000) == ramp(3000, sum_to(world.size())));
      request.wait();
    }
}

TEST_CASE_METHOD(WatchedDevices, "a stream waits for NCCL, and the host does not", "[comm][device]") {
  if (real_devices()) return;
  const auto& world = ht::world();
  const Variable variable("HEATPP_BACKEND", "nccl");
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
  for (const std::string_view algorithm : {"", "blueconnect"}) {
    const TestStream before, after;
    const auto values = ramp(300, world.rank() + 1);
    DeviceArray data(std::vector<float>(300, 0));
    CHECK(data.to_host() == std::vector<float>(300, 0));
    std::atomic<bool> begin{false};
    before.put(&told_to_end, &begin);
    before.copy(data.data(), values.data(), sizeof(float) * values.size());

    auto request = topology.iallreduce(data.in(before), {.algorithm = algorithm});
    request.wait_on(after.memory());
    CHECK_FALSE(request.test());
    begin = true;

    CHECK(seen_by(after, data, 300) == ramp(300, sum_to(world.size())));
    request.wait();
  }
}

TEST_CASE_METHOD(WatchedDevices, "waiting for requests by streams tells of failures, and of host memory waits",
                 "[comm][device]") {
  if (real_devices() || ht::world().size() == 1) return;
  const Variable variable("HEATPP_BACKEND", "nccl");
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  const TestStream after;
  DeviceArray data(ramp(9, 1));
  auto host = ramp(9, 1);
  auto on_host = comm.iallreduce(host);
  on_host.wait_on(after.memory());
  CHECK(host == ramp(9, comm.size()));

  comm.allreduce(data);
  comm.barrier();
  failures().async = ncclInternalError;
  auto request = comm.iallreduce(data);
  CHECK_THROWS_WITH(request.wait_on(after.memory()), Catch::Contains("NCCL error"));
  comm.barrier();
  failures().async = ncclSuccess;
  request.wait();  // nothing is left to wait for
}

// This is a program of its own, because device libraries are loaded once. Without a GPU they are stand-ins over MPI.
#include "../catch.hpp"

#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>

#include "machines.hpp"

#include <bit>
#include <numeric>

#include "device_memory.hpp"

namespace ht = heatpp;

namespace {

constexpr std::array backends{"", "nccl", "nccl,staged", "staged"};

}  // namespace

TEST_CASE_METHOD(WatchedDevices, "an all-reduce of device memory is exact on every machine, by every backend",
                 "[comm][device]") {
  const auto& world = ht::world();
  const std::vector<std::pair<const char*, std::string_view>> ways{
      {"", ""}, {"nccl", "blueconnect"}, {"nccl,staged", ""}, {"staged", ""}, {"staged", "ring"}};
  for (const auto& machine : machines(world.size()))
    for (const auto& [backend, algorithm] : ways) {
      const Variable variable("HEATPP_BACKEND", backend);
      const ht::Topology topology(world, machine);
      for (const std::size_t count : {0, 1, 7, 20001}) {
        DeviceArray data(ramp(count, world.rank() + 1));
        topology.allreduce(data, {.algorithm = algorithm, .chunk_bytes = 15001});
        INFO(ht::comm::describe(topology) << backend << " " << algorithm << " count " << count);
        CHECK(data.to_host() == ramp(count, sum_to(world.size())));
      }
    }
}

TEST_CASE_METHOD(WatchedDevices, "every operation works on device memory", "[comm][device]") {
  const auto& world = ht::world();
  const auto p = static_cast<float>(world.size());
  for (const auto* backend : backends) {
    const Variable variable("HEATPP_BACKEND", backend);
    for (const auto& machine : machines(world.size())) {
      const ht::Topology topology(world, machine);
      const std::vector<float> mine(5, 1 + static_cast<float>(world.rank()));
      const auto reduced = [&](ht::ReduceOp op) {
        DeviceArray data(mine);
        topology.allreduce(data, {.op = op});
        return data.to_host()[4];
      };
      CHECK(reduced(ht::ReduceOp::mean) == Approx((p + 1) / 2));
      CHECK(reduced(ht::ReduceOp::min) == 1);
      CHECK(reduced(ht::ReduceOp::max) == p);
      CHECK(reduced(ht::ReduceOp::prod) == Approx(std::tgamma(p + 1)));
      DeviceArray<int> low({world.rank(), 7});
      DeviceArray<float> high({world.rank() == 0 ? std::nanf("") : 1.0f});
      topology.allreduce(low, ht::ReduceOp::min);
      topology.allreduce(high, ht::ReduceOp::max);
      CHECK(low.to_host() == std::vector{0, 7});
      CHECK(std::isnan(high.to_host()[0]));
    }
  }
}

TEST_CASE_METHOD(WatchedDevices, "every dtype is reduced, by NCCL or in host memory where it cannot",
                 "[comm][device]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
  for (const auto* backend : backends) {
    const Variable variable("HEATPP_BACKEND", backend);
    const auto check = [&]<class T>(T one) {
      DeviceArray data(std::vector<T>(11, one));
      topology.allreduce(data);
      CHECK(data.to_host() == std::vector<T>(11, one * static_cast<T>(world.size())));
    };
    check(std::int8_t{1});
    check(std::uint8_t{1});
    check(std::int16_t{1});
    check(std::int32_t{1});
    check(std::int64_t{1});
    check(1.0);
    check(std::complex<float>(1, -1));
    check(std::complex<double>(1, -1));
    DeviceArray bfloat(std::vector<std::uint16_t>(3, 0x3f80));
    topology.allreduce(ht::Buffer(bfloat.data(), 3, ht::bfloat16, bfloat.memory()));
    CHECK(std::bit_cast<float>(std::uint32_t{bfloat.to_host()[1]} << 16) == static_cast<float>(world.size()));
  }
}

TEST_CASE_METHOD(WatchedDevices, "communicators gather, scatter and broadcast device memory", "[comm][device]") {
  const auto& world = ht::world();
  const auto p = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
  for (const auto* backend : {"nccl", "staged"})
    for (const bool even : {true, false}) {
      const Variable variable("HEATPP_BACKEND", backend);
      const ht::Topology topology(world);
      std::vector<std::int64_t> counts;
      for (std::size_t r = 0; r < p; ++r) counts.push_back(even ? 3 : static_cast<std::int64_t>(r));
      const auto first = std::reduce(counts.begin(), counts.begin() + world.rank());
      const auto total = static_cast<std::size_t>(std::reduce(counts.begin(), counts.end()));

      DeviceArray<float> scattered(ramp(total, world.rank() + 1));
      topology.reduce_scatter(scattered, counts);
      const auto sums = ramp(total, sum_to(world.size())), left = scattered.to_host();
      const auto begin = static_cast<std::ptrdiff_t>(first), end = begin + static_cast<std::ptrdiff_t>(counts[me]);
      CHECK(std::vector(left.begin() + begin, left.begin() + end) ==
            std::vector(sums.begin() + begin, sums.begin() + end));

      const auto whole = ramp(total, 1);
      DeviceArray<float> mine(std::vector(whole.begin() + begin, whole.begin() + end)),
          all(std::vector<float>(total, 0));
      topology.allgather(mine, all, counts);
      CHECK(all.to_host() == whole);

      DeviceArray sent(ramp(9, world.rank() + 1)), reduced(ramp(9, world.rank() + 1));
      const int root = world.size() - 1;
      topology.broadcast(sent, root);
      topology.reduce(reduced, root);
      CHECK(sent.to_host() == ramp(9, root + 1));
      if (world.rank() == root) CHECK(reduced.to_host() == ramp(9, sum_to(world.size())));

      DeviceArray by_level(ramp(9, world.rank() + 1));
      topology.node().allreduce(by_level);
      CHECK(by_level.to_host() == ramp(9, sum_to(world.size())));
      std::vector<float> host(3);
      if (world.size() > 1) CHECK_THROWS_AS(world.allgather(host, all, counts), ht::ValueError);
      CHECK_THROWS_AS(world.exscan(sent), ht::ValueError);
    }
}

TEST_CASE_METHOD(WatchedDevices, "many operations on device and host memory are under way together", "[comm][device]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
  for (const auto* backend : backends) {
    const Variable variable("HEATPP_BACKEND", backend);
    std::vector<DeviceArray<float>> data;
    std::vector<std::vector<float>> host(25, ramp(500, world.rank() + 1));
    data.reserve(host.size());
    std::vector<ht::Request> requests;
    for (auto& one : host) {
      data.emplace_back(ramp(5000, world.rank() + 1));
      const ht::AllreduceOptions options{.algorithm = data.size() % 3 == 0 ? "ring" : "", .chunk_bytes = 3000};
      requests.push_back(topology.iallreduce(data.back(), options));
      requests.push_back(topology.iallreduce(one));
      if (data.size() % 7 == 0) world.barrier();
    }
    while (!requests.empty()) {  // in another order on each rank
      const auto at = requests.size() * static_cast<std::size_t>(world.rank() + 1) / 9 % requests.size();
      requests[at].wait();
      requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(at));
    }
    for (const auto& one : data) CHECK(one.to_host() == ramp(5000, sum_to(world.size())));
    for (const auto& one : host) CHECK(one == ramp(500, sum_to(world.size())));
    std::vector<ht::Buffer> list(data.begin(), data.end());
    topology.allreduce(list, ht::ReduceOp::max);
    CHECK(data[0].to_host() == ramp(5000, sum_to(world.size())));
  }
}

TEST_CASE_METHOD(WatchedDevices, "between nodes device memory travels in wire formats, and reproducibly",
                 "[comm][device]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }}), other(world);
  std::vector<float> noise(3000);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = std::sin(static_cast<float>(i * 7 + static_cast<std::size_t>(world.rank())));
  auto exact = noise, rounded_once = noise;
  world.allreduce(exact);
  other.allreduce(rounded_once, {.reproducible = true});
  for (const auto* backend : {"nccl,staged", "staged"}) {
    const Variable variable("HEATPP_BACKEND", backend);
    std::vector<float> residual(noise.size(), 0);
    DeviceArray coded(noise), reproducible(noise), again(noise);
    topology.allreduce(coded, {.chunk_bytes = 5000, .wire = ht::Wire::bfloat16, .residual = residual});
    topology.allreduce(reproducible, {.reproducible = true});
    other.allreduce(again, {.reproducible = true});
    const auto rounded = coded.to_host();
    double largest = 0;
    for (std::size_t i = 0; i < noise.size(); ++i)
      largest = std::max(largest, static_cast<double>(std::abs(rounded[i] - exact[i])));
    CHECK(largest < 0.02 * world.size());
    CHECK(reproducible.to_host() == rounded_once);
    CHECK(again.to_host() == rounded_once);
  }
}

TEST_CASE_METHOD(WatchedDevices, "levels carry the bytes that they must", "[comm][device]") {
  const auto& world = ht::world();
  if (world.size() != 4) return;
  const auto traffic = [&](const char* backend, std::string_view algorithm) {
    const Variable variable("HEATPP_BACKEND", backend);
    const ht::Topology topology(*world.split(0), {.shape = {2, 2}});
    DeviceArray data(ramp(1 << 18, 1));
    topology.allreduce(data, {.algorithm = algorithm});
    return std::pair{topology.traffic()[0].bytes, topology.traffic()[1].bytes};
  };
  // In the node each rank sends half of it twice, and a half between nodes; or all at once by NCCL.
  CHECK(traffic("nccl,staged", "") == std::pair<std::int64_t, std::int64_t>{1 << 20, 1 << 19});
  CHECK(traffic("nccl", "blueconnect") == std::pair<std::int64_t, std::int64_t>{1 << 20, 1 << 19});
  CHECK(traffic("staged", "") == std::pair<std::int64_t, std::int64_t>{1 << 20, 1 << 19});
  CHECK(traffic("nccl", "") == std::pair<std::int64_t, std::int64_t>{0, 3 << 19});
}

TEST_CASE_METHOD(WatchedDevices, "an MPI library that takes device memory is handed it", "[comm][device]") {
  if (real_devices()) return;
  const auto& world = ht::world();
  const Variable readable("STANDIN_READABLE", "1");
  for (const auto* backend : {"mpi", "nccl,mpi", "mpi,staged"}) {
    const Variable variable("HEATPP_BACKEND", backend);
    for (const auto& machine : machines(world.size())) {
      const ht::Topology topology(world, machine);
      DeviceArray sum(ramp(5000, world.rank() + 1)), mean(ramp(5000, world.size())), sent(ramp(5, world.rank()));
      auto request = topology.iallreduce(sum, {.chunk_bytes = 3000});
      request.wait();
      topology.allreduce(mean, {.op = ht::ReduceOp::mean});
      topology.broadcast(sent, 0);
      CHECK(sum.to_host() == ramp(5000, sum_to(world.size())));
      CHECK(mean.to_host() == ramp(5000, world.size()));
      CHECK(sent.to_host() == ramp(5, 0));
    }
  }
}

TEST_CASE_METHOD(WatchedDevices, "a backend that does not exist or cannot work is an error on all ranks",
                 "[comm][device]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1 || real_devices()) return;
  const Variable one("STANDIN_DEVICES", "1");
  DeviceArray data(ramp(4, 1));
  {
    const Variable variable("HEATPP_BACKEND", "magic");
    CHECK_THROWS_WITH(ht::Topology(comm).allreduce(data), Catch::Contains("nccl, mpi or staged"));
  }
  {
    const Variable variable("HEATPP_BACKEND", "nccl");
    CHECK_THROWS_WITH(ht::Topology(comm).allreduce(data), Catch::Contains("share a device"));
  }
  const auto topology = [&] {
    const ht::cuda::OnDevice guard(test_device());
    return ht::Topology(comm);
  }();
  CHECK_THAT(ht::comm::describe(topology), Catch::Contains("rank 1: 0000:00:01.0"));
  topology.allreduce(data);  // shared devices use staged copies
  CHECK(data.to_host() == ramp(4, comm.size()));
}

TEST_CASE_METHOD(WatchedDevices, "a failure that NCCL finds is an error, and ends the group", "[comm][device]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1 || real_devices()) return;
  const Variable variable("HEATPP_BACKEND", "nccl");
  const ht::Topology topology(comm);
  DeviceArray data(ramp(4, 1));
  topology.allreduce(data);
  failures().async = ncclInternalError;
  CHECK_THROWS_WITH(topology.allreduce(data), Catch::Contains("NCCL error"));
  failures().async = ncclSuccess;
  CHECK_THROWS_WITH(topology.allreduce(data), Catch::Contains("given up"));
}

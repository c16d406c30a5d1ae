// Failures in NCCL: all ranks get the error, no rank hangs, and no communicator remains.
#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>

#include "device_memory.hpp"

namespace ht = heatpp;

namespace {

/// Makes NCCL fail on this rank while the object lives.
struct Failing {
  explicit Failing(StandinFailures wanted) { failures() = wanted; }
  ~Failing() { failures() = {}; }
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;
};

bool last(const ht::Communicator& comm) { return comm.rank() == comm.size() - 1; }
int communicators() { return TEST_CUDA(standin_communicators)(); }

/// Make a group with NCCL communicators of its own, and one with the current
/// settings.
ht::Communicator fresh() { return ht::from_mpi(MPI_COMM_WORLD); }

void check_that_it_works(const ht::Communicator& comm) {
  DeviceArray data(ramp(100, comm.rank() + 1));
  ht::Topology(comm).allreduce(data);
  CHECK(data.to_host() == ramp(100, sum_to(comm.size())));
}

}  // namespace

TEST_CASE_METHOD(WatchedDevices, "a rank whose part of NCCL's communicator fails is an error on all",
                 "[comm][device]") {
  if (real_devices() || ht::world().size() == 1) return;
  const Variable variable("HEATPP_BACKEND", "nccl");
  const auto before = communicators();
  for (const bool id : {true, false}) {
    const auto comm = fresh();
    DeviceArray data(ramp(4, 1));
    {
      StandinFailures failing{};
      if (id && comm.rank() == 0) failing.unique_id = ncclSystemError;
      if (!id && last(comm)) failing.init = ncclSystemError;
      const Failing guard(failing);
      const auto who = "on rank " + std::to_string(id ? 0 : comm.size() - 1);
      CHECK_THROWS_WITH(comm.allreduce(data), Catch::Contains(who) && Catch::Contains("NCCL error"));
    }
    CHECK_THROWS_WITH(comm.allreduce(data), Catch::Contains("given up"));
    CHECK(communicators() <= before);
  }
  check_that_it_works(fresh());
}

TEST_CASE_METHOD(WatchedDevices, "a call that fails in a group of calls closes the group", "[comm][device]") {
  const auto comm = fresh();
  if (real_devices() || comm.size() == 1) return;
  const Variable variable("HEATPP_BACKEND", "nccl");
  std::vector<std::int64_t> counts;
  for (int r = 0; r < comm.size(); ++r) counts.push_back(r + 1);
  DeviceArray data(ramp(static_cast<std::size_t>(sum_to(comm.size())), 1));
  comm.reduce_scatter(data, counts);
  {
    StandinFailures failing{};
    failing.call = ncclInternalError;
    failing.calls_before = 1;
    const Failing guard(failing);
    CHECK_THROWS_WITH(comm.reduce_scatter(data, counts), Catch::Contains("NCCL error"));
  }
  CHECK(TEST_CUDA(standin_open_groups)() == 0);
  CHECK_THROWS_WITH(comm.reduce_scatter(data, counts), Catch::Contains("given up"));
  check_that_it_works(fresh());
}

TEST_CASE_METHOD(WatchedDevices, "a failure of NCCL's on one rank is an error on all, of other nodes, too",
                 "[comm][device]") {
  if (real_devices() || ht::world().size() == 1) return;
  const ht::TopologyOptions one_node{.shape = {1, ht::world().size()}},
      nodes_of_two{.node_of = [](int rank) { return rank / 2; }};
  for (const auto* backend : {"nccl", "nccl,staged"})
    for (const auto& machine : {one_node, nodes_of_two})
      for (const bool at_once : {true, false}) {
        const Variable variable("HEATPP_BACKEND", backend);
        const auto comm = fresh();
        const ht::Topology topology(comm, machine);
        const ht::AllreduceOptions options{.algorithm = "blueconnect", .chunk_bytes = 12};
        DeviceArray data(ramp(90, 1));
        topology.allreduce(data, options);
        comm.barrier();
        {
          StandinFailures failing{};
          if (comm.rank() == 0) (at_once ? failing.call : failing.async) = ncclRemoteError;
          const Failing guard(failing);
          CHECK_THROWS_WITH(topology.allreduce(data, options),
                            Catch::Contains("on rank 0") && Catch::Contains("NCCL error"));
          comm.barrier();
        }
        CHECK_THROWS_AS(topology.allreduce(data, options), ht::CommError);
        check_that_it_works(fresh());
      }
}

TEST_CASE_METHOD(WatchedDevices, "NCCL's communicators end when all ranks have left", "[comm][device]") {
  if (real_devices() || ht::world().size() == 1) return;
  const Variable variable("HEATPP_BACKEND", "nccl");
  const auto use = [](const ht::Communicator& comm) {
    DeviceArray data(ramp(9, 1));
    comm.allreduce(data);
  };
  const auto before = communicators();
  auto kept = std::make_optional(fresh());
  use(*kept);
  CHECK(communicators() == before + 1);
  if (ht::world().rank() == 0) kept.reset();  // and does not wait for the others
  ht::world().barrier();
  CHECK(communicators() == before + 1);
  kept.reset();
  for (int i = 0; i < 9; ++i) use(fresh());  // making a new one ends those that were left
  CHECK(communicators() <= before + 2);
}

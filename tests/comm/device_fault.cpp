// A program in which a rank never comes, or its part of NCCL's communicator is never made: device_fault <how>. The
// others print the error and what is left of NCCL.
#include <heatpp/comm/environment.hpp>
#include <heatpp/comm/topology.hpp>

#include <cstdio>
#include <unistd.h>

#include "device_memory.hpp"

namespace ht = heatpp;

namespace {

void run(const std::string& how, const ht::Topology& topology) {
  if (how == "unmade" && ht::world().rank() == 1) failures().init = ncclInProgress;
  DeviceArray data(ramp(5000, 1));
  for (int i = 0; i < 100000; ++i) {
    if (how == "late" && ht::world().rank() == 1 && i == 10) ::sleep(600);
    topology.allreduce(data, {.chunk_bytes = 3000});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  device_library();
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank / 2; }});
  try {
    run(argv[1], topology);
  } catch (const ht::CommError& error) {
    std::printf("rank %d: %s, %d communicators of NCCL's are left\n", ht::world().rank(), error.what(),
                TEST_CUDA(standin_communicators)());
    std::fflush(stdout);
    return 3;
  }
  return 0;
}

#include <heatpp_nn/training/cores.hpp>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace heatpp::nn {

void share_cores(const Communicator& comm) {
  const int ranks = comm.split_shared().size();
  if (std::getenv("OMP_NUM_THREADS")) return;
  at::set_num_threads(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks));
}

}  // namespace heatpp::nn

#include <heatpp_nn/training/cores.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace heatpp::nn {

int share_of_cores(const Communicator& comm) {
  const int ranks = comm.split_shared().size();
  if (std::getenv("OMP_NUM_THREADS")) return 0;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks);
}

}  // namespace heatpp::nn

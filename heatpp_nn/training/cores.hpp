#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::nn {

/// Lets LibTorch compute in as many threads as each rank of `comm` has cores of its machine, which the ranks on it
/// share evenly; unless OMP_NUM_THREADS is set. Collective.
void share_cores(const Communicator& comm);

}  // namespace heatpp::nn

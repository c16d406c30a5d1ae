#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::nn {

/// Returns the number of cores for each rank of `comm`, to use as its number of threads: ranks on one machine share its
/// cores evenly. 0: use OpenMP's number, because OMP_NUM_THREADS is set. Collective.
[[nodiscard]] int share_of_cores(const Communicator& comm);

}  // namespace heatpp::nn

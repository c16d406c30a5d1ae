#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::nn {

/// How many cores of its machine each rank of `comm` has, which the ranks on it share evenly, to compute on as many
/// threads; 0: on those of OpenMP, as OMP_NUM_THREADS is set. Collective.
[[nodiscard]] int share_of_cores(const Communicator& comm);

}  // namespace heatpp::nn

#include <heatpp/comm/device/cuda/cuda_aware.hpp>

namespace heatpp::device {

bool mpi_is_cuda_aware() { return false; }

}  // namespace heatpp::device

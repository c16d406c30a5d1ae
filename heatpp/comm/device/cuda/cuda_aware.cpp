#include <heatpp/comm/device/cuda/cuda_aware.hpp>

#include <mpi.h>

#include <mpi-ext.h>

namespace heatpp::device {

bool mpi_is_cuda_aware() { return MPIX_Query_cuda_support() == 1; }

}  // namespace heatpp::device

#pragma once

namespace heatpp::device {

/// Whether the MPI library says that it takes addresses of device memory.
[[nodiscard]] bool mpi_is_cuda_aware();

}  // namespace heatpp::device

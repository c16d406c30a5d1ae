#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tools {

// What is loaded at run time is asked here; what is linked knows its version itself. Local.

/// "Open MPI v4.1.4 (MPI 3.1)".
[[nodiscard]] std::string mpi_version();
/// "multiple": from which threads MPI may be called.
[[nodiscard]] std::string mpi_threads();
[[nodiscard]] std::string hdf5_version();
[[nodiscard]] std::optional<std::string> netcdf_version();
/// "2.11.0, AVX2".
[[nodiscard]] std::string torch_version();
/// Of the runtime, the driver and NCCL, where they can be loaded.
[[nodiscard]] std::optional<std::string> cuda_runtime();
[[nodiscard]] std::optional<std::string> cuda_driver();
[[nodiscard]] std::optional<std::string> nccl_version();
/// "NVIDIA H100 80GB HBM3, 85 GB".
[[nodiscard]] std::vector<std::string> gpus();

}  // namespace tools

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tools {

// Versions of libraries. Those that are loaded at run time are asked here; linked ones are known at build time. Local.

/// Returns e.g. "Open MPI v4.1.4 (MPI 3.1)".
[[nodiscard]] std::string mpi_version();
/// Returns the threads that may call MPI, e.g. "multiple".
[[nodiscard]] std::string mpi_threads();
[[nodiscard]] std::string hdf5_version();
[[nodiscard]] std::optional<std::string> netcdf_version();
/// Returns e.g. "2.11.0, AVX2".
[[nodiscard]] std::string torch_version();
/// Return the versions of the runtime, the driver and NCCL, if they can be loaded.
[[nodiscard]] std::optional<std::string> cuda_runtime();
[[nodiscard]] std::optional<std::string> cuda_driver();
[[nodiscard]] std::optional<std::string> nccl_version();
/// Returns e.g. "NVIDIA H100 80GB HBM3, 85 GB".
[[nodiscard]] std::vector<std::string> gpus();

}  // namespace tools

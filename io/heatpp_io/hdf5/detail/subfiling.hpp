#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <string>

namespace heatpp::io::detail {

/// Throws if HDF5 cannot write or read `what`, which is in subfiles: NotCompiled without a driver for them, CommError
/// if threads may not call MPI at the same time, IoError if the environment puts subfiles elsewhere. Local.
void check_subfiling(const std::string& what, const char* op);

/// Returns access properties with which the ranks of `comm` make a file in `subfiles` subfiles, or open one (0).
/// Returns none if HDF5 refuses the number. Collective, after check_subfiling.
[[nodiscard]] Handle subfiling_access(const Communicator& comm, int subfiles = 0);

}  // namespace heatpp::io::detail

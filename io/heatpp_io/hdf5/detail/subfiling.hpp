#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <string>

namespace heatpp::io::detail {

/// Throws where HDF5 cannot write or read `what`, which is in subfiles: NotCompiled without its driver, CommError where
/// threads may not call MPI at the same time, IoError where the environment puts subfiles elsewhere. Local.
void check_subfiling(const std::string& what, const char* op);

/// Access properties by which the ranks of `comm` make a file in so many subfiles together, or open one (0); none where
/// HDF5 refuses the number. Collective, after check_subfiling.
[[nodiscard]] Handle subfiling_access(const Communicator& comm, int subfiles = 0);

}  // namespace heatpp::io::detail

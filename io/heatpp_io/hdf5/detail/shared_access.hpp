#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

namespace heatpp::io::detail {

/// Returns access properties with which the ranks of `comm` open a file together.
[[nodiscard]] Handle shared_access(const Communicator& comm);

/// How elements are transferred through MPI-IO.
enum class MpiIo {
  independent,  ///< each rank calls on its own
  collective,   ///< all ranks call together, and some of them move the elements of all
  own_runs,     ///< all ranks call together, and each moves its own, which are one run in the file
};
/// Returns transfer properties for files that were opened with shared_access.
[[nodiscard]] Handle shared_transfer(MpiIo how);

}  // namespace heatpp::io::detail

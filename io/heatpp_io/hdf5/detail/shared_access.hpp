#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

namespace heatpp::io::detail {

/// Access properties by which the ranks of `comm` open a file together.
[[nodiscard]] Handle shared_access(const Communicator& comm);

/// How elements go through MPI-IO.
enum class MpiIo {
  independent,  ///< each rank calls on its own
  collective,   ///< all ranks call together, and some of them move the elements of all
  own_runs,     ///< all ranks call together, and each moves its own, which is one run in the file
};
/// Transfer properties for files opened with shared_access.
[[nodiscard]] Handle shared_transfer(MpiIo how);

}  // namespace heatpp::io::detail

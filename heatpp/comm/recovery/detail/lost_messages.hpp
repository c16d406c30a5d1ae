#pragma once

#include <mpi.h>

#include <exception>
#include <span>

namespace heatpp::detail {

/// Waits until MPI no longer uses the memory of these messages. They are on a revoked communicator, where MPI ends them
/// with an error; if it has not after a second, their memory may still be used.
void end_lost_messages(std::span<MPI_Request> requests) noexcept;

/// Whether the error tells that a rank has ended.
[[nodiscard]] bool tells_of_loss(const std::exception_ptr& error) noexcept;

}  // namespace heatpp::detail

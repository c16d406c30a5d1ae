#pragma once

#include <mpi.h>

#include <heatpp/comm/recovery/detail/losses.hpp>
#include <vector>

/// MPI's extension for ranks that end while others go on (User Level Failure Mitigation). Without it, no_ulfm.cpp says
/// that nothing of this is there; then the functions below is_on() are not called.
namespace heatpp::detail::ulfm {

/// Whether MPI has it.
[[nodiscard]] bool is_there();
/// Whether this program was started with it. MPI has to run.
[[nodiscard]] bool is_on();
[[nodiscard]] LossClasses classes();

void revoke(MPI_Comm comm);
[[nodiscard]] bool is_revoked(MPI_Comm comm);
/// Returns the ranks of which this rank knows that they have ended, in order.
[[nodiscard]] std::vector<int> lost_ranks(MPI_Comm comm);
/// Waits for all ranks that are left, at the end of a program whose MPI is heatpp's. Returns whether none was lost. If
/// one was, MPI_Finalize of Open MPI 5.0.11 may wait for it for ever.
[[nodiscard]] bool all_at_the_end();
/// MPIX_Comm_shrink and MPIX_Comm_agree, with MPI's codes.
[[nodiscard]] int shrink(MPI_Comm comm, MPI_Comm* made);
[[nodiscard]] int agree(MPI_Comm comm, int* flags);

}  // namespace heatpp::detail::ulfm

#pragma once

#include <mpi.h>

#include <heatpp/comm/detail/progress/deadline.hpp>
#include <heatpp/comm/recovery/detail/losses.hpp>

/// Communicators that were made of one another are a family. A rank that learns that another has ended revokes the
/// whole family, so that no rank waits in it for one that has left its call. All of this happens only if ULFM is on.
namespace heatpp::detail {

/// Lets errors on `comm` be codes. With ULFM, an error that tells of a loss also revokes the family of `comm`.
void return_errors(MPI_Comm comm);
/// Adds a communicator to the family of another, or of itself as the first member.
void join_family(MPI_Comm comm, MPI_Comm of);
/// Removes it. Returns whether it was revoked; then it must not be freed.
[[nodiscard]] bool leave_family(MPI_Comm comm);
void revoke_family(MPI_Comm comm);

/// Returns what an error of MPI on this thread says about ranks.
[[nodiscard]] Loss loss_of(int code);
/// Throws ProcessFailure in a call, with MPI's text.
[[noreturn]] void raise_loss(const char* op, std::string_view text);
/// Throws ProcessFailure, and revokes the family, if ranks of the call's communicator have ended, or if it was revoked.
void expect_ranks(const NotedCall& call);

/// Runs `work`, the making of a communicator of `comm`. If a rank is lost meanwhile, the others learn it.
template <class Work>
auto revoking_if_lost(MPI_Comm comm, Work work) {
  try {
    return work();
  } catch (const ErrorOf<ErrorKind::comm, CommError>&) {
    revoke_family(comm);
    throw;
  }
}

}  // namespace heatpp::detail

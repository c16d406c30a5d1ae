#pragma once

#include <mpi.h>

#include <heatpp/comm/communicator.hpp>

namespace heatpp {

// A program that calls MPI itself links MPI::MPI_C, which find_package(heatpp) provides.

/// Makes a Communicator over the ranks of `comm`, which is duplicated and stays the caller's. Collective over `comm`.
/// Arrays on several duplicates of the same ranks combine. Those of MPI_COMM_SELF do not combine with those of all
/// ranks, also if the program has one rank. Throws ValueError for MPI_COMM_NULL and intercommunicators, and CommError
/// if MPI is not running.
[[nodiscard]] Communicator from_mpi(MPI_Comm comm);
/// Returns the library's own communicator, e.g. for MPI-IO. The caller must not free it.
[[nodiscard]] MPI_Comm to_mpi(const Communicator& comm);

}  // namespace heatpp

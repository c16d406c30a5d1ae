#pragma once

#include <mpi.h>

#include <heatpp/comm/communicator.hpp>

namespace heatpp {

// A program that calls MPI itself links MPI::MPI_C, which find_package(heatpp) has found.

/// A Communicator over the ranks of `comm`, which is duplicated and stays the caller's. Collective over `comm`.
/// Arrays on several duplicates of the same ranks combine; those of MPI_COMM_SELF are others than those of all ranks,
/// also in a program that has one. Throws ValueError for MPI_COMM_NULL and intercommunicators,
/// CommError where MPI is not running.
[[nodiscard]] Communicator from_mpi(MPI_Comm comm);
/// The library's own communicator, e.g. for MPI-IO; it must not be freed.
[[nodiscard]] MPI_Comm to_mpi(const Communicator& comm);

}  // namespace heatpp

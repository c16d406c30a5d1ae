#pragma once

#include <heatpp/comm/communicator.hpp>
#include <vector>

namespace heatpp {

/// A rank of the communicator has ended, or another rank has told so. From then on every call on this communicator, and
/// on those that `split` has made of it or it of them, throws this on all remaining ranks. A rank may get it one call
/// later than others.
using ProcessFailure = detail::ErrorOf<ErrorKind::comm, CommError>;

/// Whether the other ranks go on if a rank ends, instead of being ended, too. This takes an MPI with User Level Failure
/// Mitigation (ULFM; Open MPI from 5.0 on) and its launcher's consent: `mpirun --with-ft ulfm`. Local. Throws CommError
/// if MPI is not running.
[[nodiscard]] bool survives_failures();

/// Returns the ranks of `comm` of which this rank knows that they have ended, in order. Local. Throws CommError if MPI
/// is not running; without survives_failures() there are none.
[[nodiscard]] std::vector<int> lost_ranks(const Communicator& comm);

/// Returns a communicator of the ranks of `comm` that have not ended, in their order, with the settings of its rank 0.
/// Ranks that still wait in a call on `comm` get ProcessFailure. Collective over the remaining ranks. Communication:
/// that of MPIX_Comm_shrink and of from_mpi, again for each rank that ends meanwhile. Throws NotCompiled if MPI has no
/// ULFM, and CommError if the program was started without it. Arrays stay on `comm`; their blocks can be adopted on the
/// new communicator. Source: Bland et al., Post-failure recovery of MPI communication capability, IJHPCA 27 (2013).
[[nodiscard]] Communicator survivors(const Communicator& comm);

}  // namespace heatpp

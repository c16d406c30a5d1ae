#include <mpi.h>

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/trace.hpp>
#include <heatpp/comm/environment.hpp>

namespace heatpp {
namespace {

bool start_mpi(int* argc, char*** argv) {
  int running = 0;
  MPI_Initialized(&running);
  if (running) return false;
  // Training overlaps communication with computation from a second thread.
  int provided = 0;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
    detail::raise<CommError>("Environment", "got a failure of MPI_Init_thread; expected MPI to start");
  return true;
}

}  // namespace

Environment::Environment() : owns_mpi_(start_mpi(nullptr, nullptr)) {}
Environment::Environment(int& argc, char**& argv) : owns_mpi_(start_mpi(&argc, &argv)) {}

Environment::~Environment() {
  if (detail::tracing()) detail::write_trace(world().rank());
  if (detail::gave_up()) return;  // MPI would wait for the missing ranks; mpirun ends them when this rank leaves
  detail::release_communicators();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owns_mpi_ && !finalized) MPI_Finalize();
}

}  // namespace heatpp

#include <heatpp/comm/environment.hpp>

#include <mpi.h>

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/launcher.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/deadline.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/trace.hpp>
#include <heatpp/comm/recovery/detail/ulfm.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace heatpp {
namespace {

int level_of(Threads threads) {
  if (threads == Threads::funneled) return MPI_THREAD_FUNNELED;
  return threads == Threads::serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
}

bool start_mpi(int* argc, char*** argv, const EnvironmentOptions& options) {
  int running = 0;
  MPI_Initialized(&running);
  if (running && detail::mpi_is_running()) return false;
  if (running)
    detail::raise<CommError>("Environment",
                             "got an MPI that has ended; expected one Environment or one ht::run in a "
                             "program, since MPI cannot be started again");
  int provided = 0;
  if (MPI_Init_thread(argc, argv, level_of(options.threads), &provided) != MPI_SUCCESS)
    detail::raise<CommError>("Environment", "got a failure of MPI_Init_thread; expected MPI to start");
  try {
    detail::check_launcher("Environment");
  } catch (const Error&) {
    MPI_Finalize();
    throw;
  }
  return true;
}

using Start = void (*)(const EnvironmentOptions&);
std::vector<Start>& starts() {
  static std::vector<Start> known;
  return known;
}

/// Runs the starts of all libraries. Returns whether MPI was started here.
bool start_all(int* argc, char*** argv, const EnvironmentOptions& options) {
  const bool owns_mpi = start_mpi(argc, argv, options);
  for (const auto start : starts()) start(options);
  return owns_mpi;
}

[[noreturn]] void end_all_ranks(const char* what) {
  std::fflush(stdout);
  std::fprintf(stderr, "heatpp: rank %d of %d: %s\n", world().rank(), world().size(), what);
  std::fflush(stderr);
  if (world().size() == 1) std::exit(1);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace

void detail::on_environment(Start start) { starts().push_back(start); }

Environment::Environment(const EnvironmentOptions& options) : owns_mpi_(start_all(nullptr, nullptr, options)) {}
Environment::Environment(int& argc, char**& argv, const EnvironmentOptions& options)
    : owns_mpi_(start_all(&argc, &argv, options)) {}

Environment::~Environment() {
  if (detail::tracing()) detail::write_trace(world().rank());
  if (owns_mpi_ && detail::mpi_is_running()) detail::finish_all();
  if (detail::gave_up()) return;  // MPI would wait for the missing ranks; mpirun ends them when this rank exits
  detail::release_communicators();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!owns_mpi_ || finalized) return;
  if (!detail::ulfm::is_on() || detail::ulfm::all_at_the_end()) MPI_Finalize();
}

int detail::run_program(int& argc, char**& argv, const EnvironmentOptions& options,
                        const std::function<int()>& program) {
  const bool as_guest = mpi_is_running();
  std::optional<Environment> environment;
  try {
    environment.emplace(argc, argv, options);
  } catch (const Error& error) {  // no other rank waits
    std::fprintf(stderr, "heatpp: %s\n", error.what());
    return 1;
  }
  if (as_guest) return program();
  try {
    return program();
  } catch (const std::exception& error) {
    end_all_ranks(text_of(error).c_str());
  } catch (...) {
    end_all_ranks("an exception of an unknown kind");
  }
}

}  // namespace heatpp

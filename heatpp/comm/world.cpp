#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/interop/mpi.hpp>

namespace heatpp {

using detail::check_mpi;

namespace {

bool mpi_is_running() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

std::atomic<std::int64_t> total_calls{0}, total_bytes{0};

struct Defaults {
  std::optional<Communicator> world, self, chosen;
};
Defaults& defaults() {
  static Defaults instance;
  return instance;
}

Communicator duplicate(MPI_Comm comm, const char* op) {
  if (!mpi_is_running())
    detail::raise<CommError>(op, "got a program in which MPI is not running; expected a heatpp::Environment in main");
  return from_mpi(comm);
}

}  // namespace

Communicator::Impl::Impl(MPI_Comm owned) : mpi(owned) {
  MPI_Comm_set_errhandler(mpi, MPI_ERRORS_RETURN);
  check_mpi(MPI_Comm_rank(mpi, &rank), "Communicator");
  check_mpi(MPI_Comm_size(mpi, &size), "Communicator");
}

Communicator::Impl::~Impl() {
  if (mpi_is_running()) MPI_Comm_free(&mpi);
}

void Communicator::Impl::count(std::int64_t payload) {
  if (size == 1) return;
  for (auto* counter : {&calls, &total_calls}) counter->fetch_add(1, std::memory_order_relaxed);
  for (auto* counter : {&bytes, &total_bytes}) counter->fetch_add(payload, std::memory_order_relaxed);
}

CommCounters total_counters() noexcept { return {total_calls, total_bytes}; }

Communicator from_mpi(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "from_mpi");
  return Communicator(std::make_shared<Communicator::Impl>(copy));
}

MPI_Comm to_mpi(const Communicator& comm) { return comm.impl().mpi; }

const Communicator& world() {
  auto& d = defaults();
  if (!d.world) d.world = duplicate(MPI_COMM_WORLD, "world");
  return *d.world;
}

const Communicator& self() {
  auto& d = defaults();
  if (!d.self) d.self = duplicate(MPI_COMM_SELF, "self");
  return *d.self;
}

const Communicator& default_comm() { return defaults().chosen ? *defaults().chosen : world(); }
void use_comm(const Communicator& comm) { defaults().chosen = comm; }
void detail::release_communicators() { defaults() = {}; }

}  // namespace heatpp

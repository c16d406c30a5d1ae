#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/launcher.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/progress/deadline.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/trace.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/comm/recovery/detail/family.hpp>
#include <heatpp/interop/mpi.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace heatpp {

using detail::check_mpi;

namespace {

std::atomic<std::int64_t> total_calls{0}, total_bytes{0};

struct Defaults {
  std::optional<Communicator> world, self, chosen;
};
Defaults& defaults() {
  static Defaults instance;
  return instance;
}

Communicator duplicate(MPI_Comm comm, const char* op) {
  detail::expect_running(op);
  return from_mpi(comm);
}

/// Throws ValueError, on all ranks of `comm` alike, if it is no group of ranks.
void check_host(MPI_Comm comm) {
  detail::expect_running("from_mpi");
  detail::check_launcher("from_mpi");
  if (comm == MPI_COMM_NULL)
    detail::raise<ValueError>("from_mpi", "got MPI_COMM_NULL; expected a communicator, on its ranks only");
  int between_groups = 0;
  check_mpi(MPI_Comm_test_inter(comm, &between_groups), "from_mpi");
  if (between_groups)
    detail::raise<ValueError>("from_mpi",
                              "got an intercommunicator; expected one group of ranks, as MPI_Intercomm_merge makes it");
}

/// Ends when all ranks of a host's communicator are there. What they have under way goes on until then.
class HostBarrier final : public detail::Operation {
 public:
  explicit HostBarrier(MPI_Comm comm) : of_world_(comm == MPI_COMM_WORLD) {
    check_mpi(MPI_Ibarrier(comm, &request_), "from_mpi");
  }
  bool advance() override {
    int done = 0;
    check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "from_mpi");
    return done != 0;
  }
  void give_up() override {
    if (of_world_)
      detail::give_up_waiting("world", "not all ranks of MPI_COMM_WORLD",
                              "them all, or a communicator of those that take part (.comm, use_comm)");
    detail::give_up_waiting("from_mpi", "not all ranks of the host's communicator", "them all");
  }

 private:
  bool of_world_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Returns the number that names the ranks of `comm` in their order.
std::uint64_t group_of(MPI_Comm comm, int size) {
  const auto [ranks, of_all] = detail::ranks_in_program(comm, size);
  const bool in_order = std::ranges::is_sorted(ranks) && size == of_all;
  return in_order ? 0 : detail::hash_of(ranks);
}

/// Returns the node's name: its lowest rank.
int node_of(const Communicator& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm.impl().mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "from_mpi");
  int lowest = comm.rank();
  const int code = MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  check_mpi(code, "from_mpi");
  return lowest;
}

/// Gives a new communicator its settings, its node, and memory that it shares.
void equip(const Communicator& made) {
  auto settings = detail::settings_of_rank_0(made);
  if (!settings->allreduce.empty()) static_cast<void>(comm::algorithm(settings->allreduce));
  detail::limit_waits(*settings);
  detail::trace_to(settings->trace);
  made.impl().settings = std::move(settings);
  made.impl().node = node_of(made);
  detail::share_memory(made);
}

}  // namespace

detail::ProgramRanks detail::ranks_in_program(MPI_Comm comm, int size) {
  MPI_Group group = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm, &group), "Communicator");
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &all), "Communicator");
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_all(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  check_mpi(MPI_Group_translate_ranks(group, size, ranks.data(), all, in_all.data()), "Communicator");
  int of_all = 0;
  check_mpi(MPI_Group_size(all, &of_all), "Communicator");
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  if (std::ranges::find(in_all, MPI_UNDEFINED) != in_all.end()) return {std::move(ranks), size};
  return {std::move(in_all), of_all};
}

Communicator::Impl::Impl(MPI_Comm owned) : mpi(owned) {
  detail::return_errors(mpi);
  check_mpi(MPI_Comm_rank(mpi, &rank), "Communicator");
  check_mpi(MPI_Comm_size(mpi, &size), "Communicator");
  group = group_of(mpi, size);
}

Communicator::Impl::~Impl() {
  const bool revoked = detail::leave_family(mpi);
  if (detail::mpi_is_running() && !failed && !revoked) MPI_Comm_free(&mpi);
}

void Communicator::Impl::count(std::int64_t payload) {
  if (size == 1) return;
  for (auto* counter : {&calls, &total_calls}) counter->fetch_add(1, std::memory_order_relaxed);
  for (auto* counter : {&bytes, &total_bytes}) counter->fetch_add(payload, std::memory_order_relaxed);
}

CommCounters total_counters() noexcept { return {total_calls, total_bytes}; }

Communicator from_mpi(MPI_Comm comm) {
  check_host(comm);
  detail::forget_call();
  detail::run(std::make_unique<HostBarrier>(comm));
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "from_mpi");
  Communicator made(std::make_shared<Communicator::Impl>(copy));
  detail::join_family(copy, copy);
  int to_self = MPI_UNEQUAL;
  check_mpi(MPI_Comm_compare(comm, MPI_COMM_SELF, &to_self), "from_mpi");
  made.impl().alone = to_self == MPI_IDENT;
  detail::revoking_if_lost(copy, [&] { equip(made); });
  log(LogLevel::debug, detail::formatted("[from_mpi] made a communicator of {} ranks", made.size()));
  return made;
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
const Communicator& comm_of(const std::optional<Communicator>& named) { return named ? *named : default_comm(); }
std::uint64_t detail::default_group() { return defaults().chosen ? defaults().chosen->group() : 0; }
void use_comm(const Communicator& comm) { defaults().chosen = comm; }
void detail::release_communicators() { defaults() = {}; }

}  // namespace heatpp

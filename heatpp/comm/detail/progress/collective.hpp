#pragma once

#include <heatpp/comm/detail/machine/channels.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/progress/pending.hpp>

namespace heatpp::detail {

/// Runs a collective of all ranks, which `make` makes after the call was compared with the others' calls, if calls are.
template <class Make>
void run_collective(const Communicator& comm, const Call& call, const std::source_location& site, Make make) {
  check_collective(comm, call, site);
  run(make());
}
/// Starts a collective without waiting.
template <class Make>
[[nodiscard]] Request start_collective(const Communicator& comm, const Call& call, const std::source_location& site,
                                       Make make) {
  if (comm.impl().settings->debug && comm.size() > 1) return start(checked(comm, call, site, make));
  check_collective(comm, call, site);
  return start(make());
}

/// Waits for all ranks. Afterwards a blocking collective of MPI that has no other form may follow, because then no rank
/// waits in it for operations that another has under way.
void await_all(const Communicator& comm, const char* op);

[[nodiscard]] std::unique_ptr<Operation> start_barrier(const Communicator& comm, const char* call);
// Larger data are faster in pieces. Below the second size latency dominates, and the stages of a decomposition by
// levels cost more than they save.
inline constexpr std::int64_t small_bytes = 4 << 10, decompose_from_bytes = 64 << 10;
/// Starts an all-reduce, as comm::find_algorithm chooses. `memory` is that of the communicator's topology at the time
/// of the call.
[[nodiscard]] std::unique_ptr<Operation> start_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                         const char* call, const ScheduleMemory& memory);
[[nodiscard]] std::unique_ptr<Operation> start_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                         const char* call);
[[nodiscard]] ScheduleMemory memory_of(const Communicator& comm);
/// Starts an all-reduce of small data by messages between ranks side by side, in log2 P steps.
[[nodiscard]] std::unique_ptr<Operation> small_allreduce(const Communicator& comm, const Buffer& data, ReduceOp op,
                                                         const char* call);
/// Copies `data` of the root to the others.
[[nodiscard]] std::unique_ptr<Operation> start_broadcast(const Communicator& comm, Buffer data, int root,
                                                         const char* call = "broadcast");
/// These are the MPI library's, also for addresses of devices. `all` holds every rank's part in its place.
[[nodiscard]] std::unique_ptr<Operation> native_broadcast(const Communicator& comm, Buffer data, int root,
                                                          const char* call);
[[nodiscard]] std::unique_ptr<Operation> native_allgather(const Communicator& comm, Buffer all,
                                                          std::span<const std::int64_t> counts, const char* call);
/// Throws what `wrong` says on all ranks if it says something on any. For arguments that differ by rank.
[[nodiscard]] std::unique_ptr<Operation> unless_wrong_anywhere(const Communicator& comm, const char* op,
                                                               std::string wrong);

}  // namespace heatpp::detail

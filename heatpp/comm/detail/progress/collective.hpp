#pragma once

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
/// Starts an all-reduce over ranks side by side: in shared memory, else in few steps if data are small, else MPI's.
[[nodiscard]] std::unique_ptr<Operation> start_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                         const char* call);
// Longer data are faster in pieces, as MPI cuts them.
inline constexpr std::int64_t small_bytes = 4 << 10;
/// Starts an all-reduce of small data by messages, in log2 P steps.
[[nodiscard]] std::unique_ptr<Operation> small_allreduce(const Communicator& comm, const Buffer& data, ReduceOp op,
                                                         const char* call);
/// Copies `data` of the root to the others.
[[nodiscard]] std::unique_ptr<Operation> start_broadcast(const Communicator& comm, Buffer data, int root,
                                                         const char* call = "broadcast");
/// Throws what `wrong` says on all ranks if it says something on any. For arguments that differ by rank.
[[nodiscard]] std::unique_ptr<Operation> unless_wrong_anywhere(const Communicator& comm, const char* op,
                                                               std::string wrong);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/progress/pending.hpp>

namespace heatpp::detail {

/// A collective of all ranks: what `make` makes, once the call is compared with those of the others, if they are.
template <class Make>
void run_collective(const Communicator& comm, const Call& call, const std::source_location& site, Make make) {
  check_collective(comm, call, site);
  run(make());
}
/// The same without waiting.
template <class Make>
[[nodiscard]] Request start_collective(const Communicator& comm, const Call& call, const std::source_location& site,
                                       Make make) {
  if (comm.impl().settings->debug && comm.size() > 1) return start(checked(comm, call, site, make));
  check_collective(comm, call, site);
  return start(make());
}

/// Waits for all ranks. What follows may be a blocking collective of MPI's that has no other form, since then no rank
/// waits in it for what another has under way.
void await_all(const Communicator& comm, const char* op);

[[nodiscard]] std::unique_ptr<Operation> start_barrier(const Communicator& comm, const char* call);
/// An all-reduce over ranks side by side: through shared memory, else few steps for little data, and else MPI's.
[[nodiscard]] std::unique_ptr<Operation> start_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                         const char* call);
/// Copies `data` of the root to the others.
[[nodiscard]] std::unique_ptr<Operation> start_broadcast(const Communicator& comm, Buffer data, int root,
                                                         const char* call = "broadcast");
/// Throws what `wrong` says, on all ranks, where it says something on any. For arguments that differ by rank.
[[nodiscard]] std::unique_ptr<Operation> unless_wrong_anywhere(const Communicator& comm, const char* op,
                                                               std::string wrong);

}  // namespace heatpp::detail

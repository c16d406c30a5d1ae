#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/machine/segment.hpp>
#include <heatpp/comm/detail/progress/call_queue.hpp>
#include <heatpp/comm/detail/schedule/cache.hpp>
#include <heatpp/comm/detail/settings.hpp>
#include <heatpp/comm/topology.hpp>
#include <mutex>

namespace heatpp {

namespace device {
class Resources;
}

namespace detail {
/// The traffic of collectives that consist of messages, on one level of the network.
struct Traffic {
  std::atomic<std::int64_t> messages{0}, bytes{0}, nanoseconds{0};
};
}  // namespace detail

struct Communicator::Impl {
  MPI_Comm mpi = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  std::uint64_t group = 0;  ///< Communicator::group()
  std::shared_ptr<const detail::Settings> settings = std::make_shared<detail::Settings>();
  std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::uint32_t> started{0};  ///< collectives that consist of messages; their tags follow from it

  /// Traffic by level; deeper levels count as the last one.
  using Levels = std::array<detail::Traffic, 8>;
  std::shared_ptr<Levels> traffic = std::make_shared<Levels>();
  detail::ScheduleCache schedules;                 ///< schedules of ranks side by side
  std::vector<bool> no_copies_to, no_copies_from;  ///< ranks whose memory cannot be read; see DirectCopies
  detail::CallQueue calls_to_check;                ///< calls of HEATPP_DEBUG=collectives
  std::shared_ptr<device::Resources> device;       ///< set when it is first needed
  bool alone = false;                              ///< a duplicate of MPI_COMM_SELF
  bool part = false;                               ///< made of ranks of another communicator, whose settings it has
  int node = -1;                                   ///< a number that is equal on ranks that share memory
  std::unique_ptr<detail::Segment> segment;        ///< if all ranks share memory
  std::shared_ptr<Topology::State> machine;        ///< of topology_of(); if missing, all ranks are on one node
  std::once_flag attaches;
  std::shared_ptr<void> attached;  ///< see detail::attached
  /// Something failed here, so that messages may remain unread. MPI must not give the number to another communicator,
  /// which would receive them.
  std::atomic<bool> failed{false};

  /// Adopts `owned`, a communicator that nobody else frees.
  explicit Impl(MPI_Comm owned);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void count(std::int64_t payload);
};

namespace detail {
/// The numbers of a communicator's ranks in the whole program, and how many ranks the program has. A communicator of
/// ranks that joined later is a program of its own.
struct ProgramRanks {
  std::vector<int> ranks;
  int of_all = 0;
};
[[nodiscard]] ProgramRanks ranks_in_program(MPI_Comm comm, int size);
[[nodiscard]] inline ProgramRanks ranks_in_program(const Communicator& comm) {
  return ranks_in_program(comm.impl().mpi, comm.size());
}
}  // namespace detail

}  // namespace heatpp

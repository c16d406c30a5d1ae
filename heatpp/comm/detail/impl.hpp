#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/machine/channels.hpp>
#include <heatpp/comm/detail/machine/segment.hpp>
#include <heatpp/comm/detail/progress/call_queue.hpp>
#include <heatpp/comm/detail/schedule/cache.hpp>
#include <heatpp/comm/detail/settings.hpp>

namespace heatpp {

namespace device {
class Resources;
}

namespace detail {
/// What collectives made of messages did on a level of the network.
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
  std::atomic<std::uint32_t> started{0};  ///< collectives that are made of messages, whose tags follow from it

  /// By level; deeper ones count as the last.
  using Levels = std::array<detail::Traffic, 8>;
  std::shared_ptr<Levels> traffic = std::make_shared<Levels>();
  detail::ScheduleCache schedules;                 ///< of ranks side by side
  std::vector<bool> no_copies_to, no_copies_from;  ///< ranks between which memory cannot be read; see DirectCopies
  detail::CallQueue calls_to_check;                ///< of HEATPP_DEBUG=collectives
  std::shared_ptr<device::Resources> device;       ///< once it was asked for
  bool alone = false;                              ///< a duplicate of MPI_COMM_SELF
  bool part = false;                               ///< of the ranks of another, which it has its settings from
  int node = -1;                                   ///< a number that ranks which share memory have in common
  std::unique_ptr<detail::Segment> segment;        ///< where all ranks share memory
  std::shared_ptr<detail::Channels> channels;      ///< the same for schedules, where a topology asked for it
  bool asked_for_channels = false;
  /// Something failed here, so that messages may lie unread: MPI must not give the number to another communicator,
  /// which would take them for its own.
  std::atomic<bool> failed{false};

  /// Adopts `owned`, a communicator that nobody else frees.
  explicit Impl(MPI_Comm owned);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void count(std::int64_t payload);
};

namespace detail {
/// The numbers that the ranks of a communicator have among all of the program, and how many these are. A communicator
/// of ranks that joined later is a program of its own.
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

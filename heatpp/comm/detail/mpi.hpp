#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/machine/segment.hpp>
#include <heatpp/comm/detail/progress/turns.hpp>
#include <heatpp/comm/progress_thread.hpp>
#include <thread>

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
  std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::uint32_t> started{0};  ///< collectives that are made of messages, whose tags follow from it

  /// By level; deeper ones count as the last.
  using Levels = std::array<detail::Traffic, 8>;
  std::shared_ptr<Levels> traffic = std::make_shared<Levels>();
  detail::Turns calls_to_check;               ///< of HEATPP_DEBUG=collectives
  std::shared_ptr<device::Resources> device;  ///< once it was asked for
  std::unique_ptr<detail::Segment> segment;   ///< where the ranks share memory and a topology asked for it
  bool asked_for_segment = false;

  /// Adopts `owned`, a communicator that nobody else frees.
  explicit Impl(MPI_Comm owned);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void count(std::int64_t payload);
};

namespace detail {

/// Throws CommError with MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* op);

[[nodiscard]] MPI_Datatype mpi_type(Dtype dtype);
/// The reduction for elements of `dtype`; throws TypeError where there is none (min and max of complex numbers).
[[nodiscard]] MPI_Op mpi_op(ReduceOp op, Dtype dtype);

/// MPI counts are ints: longer buffers go in pieces of this many elements.
inline constexpr std::int64_t max_count = std::int64_t{1} << 30;

/// Operations under way make progress on a thread meanwhile, if there are any: the ranks that a blocking call of MPI
/// waits for may be waiting for them.
[[nodiscard]] std::optional<ProgressThread> progress_beside();

/// Calls f(first, n) for pieces of at most `limit` elements, at least once.
template <class F>
void for_each_piece(std::int64_t count, std::int64_t limit, F f) {
  std::int64_t first = 0;
  do {
    const auto n = std::min(count - first, limit);
    f(first, static_cast<int>(n));
    first += n;
  } while (first < count);
}

}  // namespace detail
}  // namespace heatpp

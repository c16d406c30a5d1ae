#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/recovery/detail/ulfm.hpp>

#include <thread>

namespace heatpp::detail {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds long_wait{500}, nap{50};

/// Advances messages that others wait for while this rank looks only at shared memory. MPICH looks at no messages for a
/// communicator of one rank. On one of all ranks, ULFM makes a lost rank an error for the host's handler.
void advance_messages() {
  int found = 0;
  const auto comm = ulfm::is_on() ? MPI_COMM_SELF : MPI_COMM_WORLD;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
}

}  // namespace

void Patience::wait(Operation& operation, const std::optional<NotedCall>& call) {
  if (++fruitless_ < tries_before_yield) return;
  if (fruitless_ % 16 != 0) return std::this_thread::yield();
  check(operation, call);
  advance_messages();
  if (!begin_) begin_ = Clock::now();
  if (Clock::now() - *begin_ > long_wait) std::this_thread::sleep_for(nap);
}

void Patience::check(Operation& operation, const std::optional<NotedCall>& call) {
  if (!deadline_) deadline_.emplace();
  if (deadline_->passed()) operation.give_up();
  check_deadline(*deadline_, call);
}

}  // namespace heatpp::detail

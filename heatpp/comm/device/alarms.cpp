#include <heatpp/comm/device/alarms.hpp>

#include <heatpp/comm/detail/mpi.hpp>

#include <algorithm>

namespace heatpp::device {

struct Alarms::Message {
  std::array<char, 384> failure = {};
  std::int64_t ended = 0;  ///< operations that ended before the failure
};

struct Alarms::State {
  Communicator::Impl& of;
  MPI_Comm mpi = of.mpi;
  int rank = of.rank, ranks = of.size, tag;
  std::mutex mutex = {};
  std::int64_t begun = 0, ended = 0;
  std::optional<Message> told = {};
  unsigned questions = 0;

  /// A rank that failed, too, may never receive it, so the memory is kept.
  void send(const Message& message) const {
    const auto& lasting = *new Message(message);
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      detail::check_mpi(MPI_Isend(&lasting, sizeof lasting, MPI_BYTE, other, tag, mpi, &request), "device");
      MPI_Request_free(&request);
    }
  }
  /// Looks for messages now and then, because MPI yields the core at each look if ranks share cores.
  void hear() {
    if (++questions % 64 != 0) return;
    int found = 0;
    MPI_Status status;
    detail::check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, mpi, &found, &status), "device");
    if (!found) return;
    of.failed = true;
    auto& message = told.emplace();
    detail::check_mpi(MPI_Recv(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, tag, mpi, MPI_STATUS_IGNORE),
                      "device");
  }
};

Alarms::Alarms(const Communicator& comm, int tag) : state_(new State{.of = comm.impl(), .tag = tag}) {}

std::int64_t Alarms::begin() {
  const std::lock_guard lock(state_->mutex);
  return ++state_->begun;
}

std::int64_t Alarms::latest() const {
  const std::lock_guard lock(state_->mutex);
  return state_->begun;
}

void Alarms::note_end_of(std::int64_t number) {
  const std::lock_guard lock(state_->mutex);
  state_->ended = std::max(state_->ended, number);
}

void Alarms::raise(const std::string& failure) {
  const std::lock_guard lock(state_->mutex);
  if (state_->told) return;
  state_->of.failed = true;
  auto& message = state_->told.emplace();
  std::copy_n(failure.data(), std::min(failure.size(), message.failure.size() - 1), message.failure.begin());
  message.ended = state_->ended;
  state_->send(message);
}

std::optional<std::string> Alarms::failure_of(std::int64_t number) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->told) state_->hear();
  if (!state_->told || state_->told->ended >= number) return std::nullopt;
  return state_->told->failure.data();
}

}  // namespace heatpp::device

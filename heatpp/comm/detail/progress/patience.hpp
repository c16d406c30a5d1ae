#pragma once

#include <chrono>
#include <heatpp/comm/detail/progress/roll_call.hpp>

/// Waiting for other ranks ends after HEATPP_TIMEOUT seconds, if that is set, or while debugging after 30: with a
/// CommError that says for whom.
namespace heatpp::detail {

[[nodiscard]] bool waits_are_limited();
[[nodiscard]] double patience_seconds();

/// A wait, which begins when it is made.
class Deadline {
 public:
  Deadline() : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_seconds())) {}
  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
};

/// A call that this rank may be waiting in.
struct Noted {
  Communicator comm;
  Fingerprint print;
};
/// Keeps this thread's latest call, for messages.
void note(Noted call);
[[nodiscard]] const std::optional<Noted>& latest_call();

/// Throws CommError when the deadline has passed, or another rank of the call says that its has: after a second in
/// which all ranks that wait in it can say so, it names those that do not. To be called now and then.
void check_deadline(const Deadline& deadline, const std::optional<Noted>& call);
/// Whether this rank has given up a call, after which MPI cannot be ended in an orderly way.
[[nodiscard]] bool gave_up();

/// Waits for the request, as long as is allowed.
void await(MPI_Request& request, const char* op);
/// Waits for all ranks where waiting is limited, before a call of MPI's that could not be given up.
void await_all(const Communicator& comm);

/// A blocking call of MPI's, or its non-blocking sibling, which takes a request more, where waiting is limited.
template <class Blocking, class Nonblocking, class... Args>
void call_mpi(const char* op, Blocking blocking, Nonblocking nonblocking, Args... args) {
  const auto progress = progress_beside();
  if (!waits_are_limited()) return check_mpi(blocking(args...), op);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(nonblocking(args..., &request), op);
  await(request, op);
}

}  // namespace heatpp::detail

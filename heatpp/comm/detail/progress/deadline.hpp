#pragma once

#include <chrono>
#include <heatpp/comm/detail/progress/roll_call.hpp>

/// Waiting for other ranks ends after HEATPP_TIMEOUT seconds if that is set, and while debugging after 30, with a
/// CommError that says who is missing. Otherwise heatpp's own waits, which are not inside MPI, end after half an hour.
namespace heatpp::detail {

/// Limits all waits of this program from now on as the settings say, if they do.
void limit_waits(const Settings& settings);
/// Whether such a limit is set. Then blocking calls are not left to MPI.
[[nodiscard]] bool waits_are_limited();
[[nodiscard]] double patience_seconds();
/// Whether calls are noted: if waits are limited, or if ranks may end while others go on (recovery/).
[[nodiscard]] bool calls_are_noted();

/// The time limit of one wait, which begins when the object is made.
class Deadline {
 public:
  Deadline() : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_seconds())) {}
  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
};

/// A call that this rank may be waiting in.
struct NotedCall {
  Communicator comm;
  Fingerprint print;
};
/// Keeps this thread's latest call, for messages.
void note(NotedCall call);
[[nodiscard]] const std::optional<NotedCall>& latest_call();
/// Forgets it, before a wait on a communicator that no noted call knows.
void forget_call();

/// Throws CommError if the deadline has passed, or if another rank of the call says that its has. It first waits a
/// second, in which all ranks that wait in the call can say so, and then names the others. Throws ProcessFailure if a
/// rank of the call has ended and the others may go on. Called now and then.
void check_deadline(const Deadline& deadline, const std::optional<NotedCall>& call);
/// Throws that `op` got `what` until the deadline. For waits that have no noted call.
[[noreturn]] void give_up_waiting(const char* op, std::string_view what, std::string_view expected);
/// Whether this rank has given up a call. MPI cannot be ended in an orderly way then.
[[nodiscard]] bool gave_up();

}  // namespace heatpp::detail

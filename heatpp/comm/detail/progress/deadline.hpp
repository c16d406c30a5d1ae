#pragma once

#include <chrono>
#include <heatpp/comm/detail/progress/roll_call.hpp>

/// Waiting for other ranks ends after HEATPP_TIMEOUT seconds, if that is set, or while debugging after 30: with a
/// CommError that says for whom. Otherwise waits of heatpp's own, which are not inside MPI, end after half an hour.
namespace heatpp::detail {

/// Limits all waits of this program from now on, to that of the settings, if they have one.
void limit_waits(const Settings& settings);
/// Whether such a limit has been set, for which blocking calls are not left to MPI.
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
struct NotedCall {
  Communicator comm;
  Fingerprint print;
};
/// Keeps this thread's latest call, for messages.
void note(NotedCall call);
[[nodiscard]] const std::optional<NotedCall>& latest_call();

/// Throws CommError when the deadline has passed, or another rank of the call says that its has: after a second in
/// which all ranks that wait in it can say so, it names those that do not. To be called now and then.
void check_deadline(const Deadline& deadline, const std::optional<NotedCall>& call);
/// Throws that `op` got `what` until the deadline. For waits that are no noted call.
[[noreturn]] void give_up_waiting(const char* op, std::string_view what, std::string_view expected);
/// Whether this rank has given up a call, after which MPI cannot be ended in an orderly way.
[[nodiscard]] bool gave_up();

}  // namespace heatpp::detail

#pragma once

#include <heatpp/comm/communicator.hpp>

#include <exception>

namespace heatpp::detail {

/// Watches a host's code during the iterations of a method: it may ask for the end or throw. Ranks tell each other
/// through numbers that they add up anyway. So all do equally many iterations, and all throw if one has thrown.
class Watch {
 public:
  /// Calls the host's callback, if one is set, until it asks for the end; it returns whether to go on. What it throws
  /// is kept. Local.
  template <class Callback, class... Arguments>
  void ask(const Callback& callback, const Arguments&... arguments) {
    if (callback && !asked_ && !thrown_) run([&] { asked_ = !callback(arguments...); });
  }
  /// Runs the host's code and keeps what it throws. Local.
  void run(const std::function<void()>& code);
  /// Returns what this rank adds to a sum over all ranks; learns from that sum what others have.
  [[nodiscard]] double vote() const { return thrown_ ? alarm : asked_ ? 1 : 0; }
  void hear(double votes) {
    ended_ = ended_ || votes > 0;
    failed_ = failed_ || votes >= alarm;
  }
  /// Whether a rank has asked for the end.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Whether the code of a rank has thrown.
  [[nodiscard]] bool failed() const { return failed_; }
  /// Throws, after the iterations, what the code threw on this rank, and its text on the other ranks. Collective: one
  /// all-reduce of 8 bytes; local if the ranks do not `share` the work.
  void settle(const Communicator& comm, bool share) const;

 private:
  static constexpr double alarm = 1 << 30;  // greater than any number of ranks
  std::exception_ptr thrown_;
  bool asked_ = false, ended_ = false, failed_ = false;
};

}  // namespace heatpp::detail

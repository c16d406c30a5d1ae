#pragma once

#include <heatpp/comm/communicator.hpp>

#include <exception>

namespace heatpp::detail {

/// What a host's code says during the iterations of a method: to end it, or an exception. Ranks tell each other
/// with numbers that they add up anyway, so that all do as many iterations, and all throw where one has.
class Watch {
 public:
  /// Calls the host, if it has set a callback, which says whether to go on, until it wants the end; what it throws is
  /// kept. Local.
  template <class Callback, class... Arguments>
  void ask(const Callback& callback, const Arguments&... arguments) {
    if (callback && !asked_ && !thrown_) run([&] { asked_ = !callback(arguments...); });
  }
  /// Runs the host's code; what it throws is kept. Local.
  void run(const std::function<void()>& code);
  /// What this rank puts into a sum over all ranks, and what it learns from that sum.
  [[nodiscard]] double vote() const { return thrown_ ? alarm : asked_ ? 1 : 0; }
  void hear(double votes) {
    ended_ = ended_ || votes > 0;
    failed_ = failed_ || votes >= alarm;
  }
  /// Whether a rank has asked for the end.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Whether code of a rank has thrown.
  [[nodiscard]] bool failed() const { return failed_; }
  /// After the iterations: throws what the code has thrown here, and its text on the other ranks. Collective: one
  /// all-reduce of 8 bytes; local where the ranks do not `share` the work.
  void settle(const Communicator& comm, bool share) const;

 private:
  static constexpr double alarm = 1 << 30;  // more than there are ranks
  std::exception_ptr thrown_;
  bool asked_ = false, ended_ = false, failed_ = false;
};

}  // namespace heatpp::detail

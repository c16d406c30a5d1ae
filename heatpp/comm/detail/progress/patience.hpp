#pragma once

#include <heatpp/comm/detail/progress/deadline.hpp>

#include <optional>

namespace heatpp::detail {

/// A rank that has long found nothing to do lets others run, and after much longer sleeps: whoever it waits for is
/// late, perhaps for want of a core. Where waiting is limited it gives up some day.
class Patience {
 public:
  /// Called when the operation that this rank waits for, in `call`, could not be advanced.
  void wait(Operation& operation, const std::optional<NotedCall>& call);

 private:
  void check(Operation& operation, const std::optional<NotedCall>& call);

  int fruitless_ = 0;
  std::optional<std::chrono::steady_clock::time_point> begin_;  // of a wait that is not short: the clock takes its time
  std::optional<Deadline> deadline_;
};

}  // namespace heatpp::detail

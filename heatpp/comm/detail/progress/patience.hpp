#pragma once

#include <heatpp/comm/detail/progress/deadline.hpp>

#include <optional>

namespace heatpp::detail {

/// After long waiting a rank lets others run, and after much longer it sleeps, because the ranks that it waits for are
/// late, perhaps because they have no core. If waiting is limited it gives up in the end.
class Patience {
 public:
  /// Called if the operation that this rank waits for, in `call`, could not be advanced.
  void wait(Operation& operation, const std::optional<NotedCall>& call);

 private:
  void check(Operation& operation, const std::optional<NotedCall>& call);

  int fruitless_ = 0;
  std::optional<std::chrono::steady_clock::time_point> begin_;  // start of a long wait; reading the clock takes time
  std::optional<Deadline> deadline_;
};

}  // namespace heatpp::detail

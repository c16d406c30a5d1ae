#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace heatpp::detail {

struct Schedule;

/// Schedules of one rank on one machine, which calls with the same arguments share.
class ScheduleCache {
 public:
  /// What determines a schedule: the algorithm, counts, the size of an element, options.
  using Key = std::vector<std::int64_t>;
  /// Returns the schedule of the key; `make` makes it if there is none.
  [[nodiscard]] std::shared_ptr<const Schedule> get(const Key& key, const std::function<Schedule()>& make);

 private:
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Schedule>> made_;
  std::size_t messages_ = 0;  // messages in all schedules
};

}  // namespace heatpp::detail

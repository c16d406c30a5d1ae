#include <heatpp/comm/detail/schedule/cache.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>

namespace heatpp::detail {
namespace {

// Some ten MiB. A program whose counts never recur keeps no more.
constexpr std::size_t most_messages = 1 << 18, most_schedules = 1024;

/// Lanes that share their steps count once.
std::size_t messages_in(const Schedule& schedule) {
  std::size_t messages = 0;
  const Steps* before = nullptr;
  for (const auto& lane : schedule.lanes) {
    if (lane.steps.get() == before) continue;
    before = lane.steps.get();
    for (const auto& step : *before) {
      messages += step.sends.size() + step.receives.size();
      for (const auto& sum : step.sums) messages += 1 + sum.peers.size();
    }
  }
  return messages;
}

}  // namespace

std::shared_ptr<const Schedule> ScheduleCache::get(const Key& key, const std::function<Schedule()>& make) {
  const std::lock_guard lock(mutex_);
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  auto schedule = std::make_shared<const Schedule>(make());
  messages_ += messages_in(*schedule);
  if (messages_ > most_messages || made_.size() >= most_schedules) {
    made_.clear();
    messages_ = messages_in(*schedule);
  }
  return made_[key] = std::move(schedule);
}

}  // namespace heatpp::detail

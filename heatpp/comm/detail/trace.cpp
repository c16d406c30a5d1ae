#include <fmt/format.h>
#include <heatpp/comm/detail/trace.hpp>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <vector>

namespace heatpp::detail {
namespace {

struct Event {
  int level;
  std::size_t lane;
  std::int64_t bytes;
  Clock::time_point begin, end;
};

struct Trace {
  std::mutex mutex;
  std::vector<Event> events;
};
Trace& noted() {
  static Trace instance;
  return instance;
}

const char* prefix() {
  static const char* const value = std::getenv("HEATPP_TRACE");
  return value && *value ? value : nullptr;
}

double microseconds(Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

}  // namespace

bool tracing() { return prefix() != nullptr; }

void trace(int level, std::size_t lane, std::int64_t bytes, Clock::time_point begin) {
  const std::lock_guard lock(noted().mutex);
  noted().events.push_back({level, lane, bytes, begin, Clock::now()});
}

void write_trace(int rank) {
  if (!tracing()) return;
  const std::lock_guard lock(noted().mutex);
  std::ofstream file(fmt::format("{}.{}.json", prefix(), rank));
  file << "[\n";
  for (std::size_t i = 0; i < noted().events.size(); ++i) {
    const auto& event = noted().events[i];
    file << fmt::format(
        R"({}{{"name":"level {}","ph":"X","ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{},"args":{{"bytes":{}}}}})",
        i ? ",\n" : "", event.level, microseconds(event.begin.time_since_epoch()),
        microseconds(event.end - event.begin), rank, event.lane, event.bytes);
  }
  file << "\n]\n";
}

}  // namespace heatpp::detail

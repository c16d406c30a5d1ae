#include <heatpp/comm/detail/schedule/trace.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <fstream>
#include <mutex>
#include <vector>

namespace heatpp::detail {
namespace {

/// Events by row of the picture: row 0 is the program's, lanes follow.
struct Event {
  std::string name;
  std::size_t row;
  std::int64_t bytes;  // negative: no message
  Clock::time_point begin, end;
};

constexpr std::size_t most_events = 1 << 18;

struct Trace {
  std::mutex mutex;
  std::deque<Event> events;
  std::string prefix;
  std::atomic<bool> wanted = false;
};
Trace& noted() {
  static Trace instance;
  return instance;
}

void note(Event event) {
  const std::lock_guard lock(noted().mutex);
  auto& events = noted().events;
  events.push_back(std::move(event));
  if (events.size() > most_events) events.pop_front();
}

double microseconds(Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return text;
}

std::string title(const char* of, int rank, std::size_t row, const std::string& name) {
  return formatted(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":"{}"}}}})", of, rank, row, name);
}

}  // namespace

bool tracing() { return noted().wanted; }
void start_tracing() { noted().wanted = true; }

void trace_to(const std::string& prefix) {
  if (prefix.empty()) return;
  const std::lock_guard lock(noted().mutex);
  noted().prefix = prefix;
  noted().wanted = true;
}

void trace(int level, std::size_t lane, std::int64_t bytes, Clock::time_point begin) {
  note({formatted("level {}", level), lane + 1, bytes, begin, Clock::now()});
}

void trace(const std::string& name, Clock::time_point begin) { note({name, 0, -1, begin, Clock::now()}); }

std::string trace_events(int rank, Clock::time_point origin) {
  const std::lock_guard lock(noted().mutex);
  std::vector<std::string> lines;
  std::size_t rows = 0;
  for (const auto& event : noted().events) {
    rows = std::max(rows, event.row);
    const auto bytes = event.bytes < 0 ? std::string() : formatted(R"("bytes":{})", event.bytes);
    lines.push_back(formatted(R"({{"name":"{}","ph":"X","ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{},"args":{{{}}}}})",
                              escaped(event.name), microseconds(event.begin - origin),
                              microseconds(event.end - event.begin), rank, event.row, bytes));
  }
  lines.push_back(title("process_name", rank, 0, formatted("rank {}", rank)));
  for (std::size_t row = 0; row <= rows; ++row)
    lines.push_back(title("thread_name", rank, row, row ? formatted("communication {}", row - 1) : "program"));
  return formatted("{}", fmt::join(lines, ",\n"));
}

void write_trace(int rank) {
  if (noted().prefix.empty()) return;
  std::ofstream(formatted("{}.{}.json", noted().prefix, rank)) << "[\n" << trace_events(rank) << "\n]\n";
}

}  // namespace heatpp::detail

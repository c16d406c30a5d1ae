#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace heatpp::detail {

using Clock = std::chrono::steady_clock;

/// Whether steps are noted: there is a prefix, or somebody has asked for it.
[[nodiscard]] bool tracing();
void start_tracing();
/// Files for timelines get this prefix, unless it is empty. The latest events are kept, a few 100,000.
void trace_to(const std::string& prefix);
/// Notes that a step of `bytes` on a level lasted from `begin` until now; lanes are drawn below one another.
void trace(int level, std::size_t lane, std::int64_t bytes, Clock::time_point begin);
/// Notes that something of the program itself lasted from `begin` until now; drawn above the lanes.
void trace(const std::string& name, Clock::time_point begin);
/// What was noted, since `origin`, as events of Chrome's trace viewer with commas between them.
[[nodiscard]] std::string trace_events(int rank, Clock::time_point origin = {});
/// Writes what was noted to <prefix>.<rank>.json, in the format of Chrome's trace viewer (about:tracing,
/// Perfetto).
void write_trace(int rank);

}  // namespace heatpp::detail

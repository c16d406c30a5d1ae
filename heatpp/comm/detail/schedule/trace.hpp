#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace heatpp::detail {

using Clock = std::chrono::steady_clock;

/// Whether steps are noted: a prefix is set, or a caller has asked for it.
[[nodiscard]] bool tracing();
void start_tracing();
/// Sets the prefix of files with timelines, unless it is empty. The latest events, a few 100,000, are kept.
void trace_to(const std::string& prefix);
/// Notes that a step of `bytes` on a level lasted from `begin` until now. Lanes are drawn below one another.
void trace(int level, std::size_t lane, std::int64_t bytes, Clock::time_point begin);
/// Notes that an action of the program itself lasted from `begin` until now. It is drawn above the lanes.
void trace(const std::string& name, Clock::time_point begin);
/// Returns the notes since `origin` as events of Chrome's trace viewer, separated by commas.
[[nodiscard]] std::string trace_events(int rank, Clock::time_point origin = {});
/// Writes the notes to <prefix>.<rank>.json, in the format of Chrome's trace viewer (about:tracing,
/// Perfetto).
void write_trace(int rank);

}  // namespace heatpp::detail

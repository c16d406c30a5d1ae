#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heatpp::detail {

using Clock = std::chrono::steady_clock;

/// Whether HEATPP_TRACE names files for timelines.
[[nodiscard]] bool tracing();
/// Notes that a step of `bytes` on a level lasted from `begin` until now; lanes are drawn below one another.
void trace(int level, std::size_t lane, std::int64_t bytes, Clock::time_point begin);
/// Writes what was noted to <HEATPP_TRACE>.<rank>.json, in the format of Chrome's trace viewer (about:tracing,
/// Perfetto).
void write_trace(int rank);

}  // namespace heatpp::detail

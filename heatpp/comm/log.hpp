#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heatpp {

enum class LogLevel { debug, info, warning };

using LogSink = std::function<void(LogLevel, std::string_view message)>;

/// Sends messages of at least `level` to `sink`, on rank 0 only unless `all_ranks`. An empty sink, the default,
/// silences the library. HEATPP_LOG=debug|info|warning in the environment logs to stderr.
struct LogOptions {
  LogLevel level = LogLevel::info;
  bool all_ranks = false;
};
void set_log(LogSink sink, const LogOptions& options = {});

/// Returns this process's rank in the whole program, 0 without MPI. Local.
[[nodiscard]] int program_rank();

/// Hands one message to the sink. Local: communicates nothing.
void log(LogLevel level, std::string_view message);

}  // namespace heatpp

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <heatpp/comm/log.hpp>

namespace heatpp {
namespace {

constexpr std::string_view names[] = {"debug", "info", "warning"};

struct State {
  LogSink sink;
  LogOptions options;

  State() {
    const char* wanted = std::getenv("HEATPP_LOG");
    for (int level = 0; wanted && level < 3; ++level)
      if (names[level] == wanted) {
        options.level = static_cast<LogLevel>(level);
        sink = [](LogLevel l, std::string_view text) {
          std::fprintf(stderr, "heatpp %s: %.*s\n", names[static_cast<int>(l)].data(), static_cast<int>(text.size()),
                       text.data());
        };
      }
  }
};

State& state() {
  static State instance;
  return instance;
}

}  // namespace

int program_rank() {
  int initialized = 0, finalized = 0, rank = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void set_log(LogSink sink, const LogOptions& options) {
  state().sink = std::move(sink);
  state().options = options;
}

void log(LogLevel level, std::string_view message) {
  const auto& s = state();
  if (!s.sink || level < s.options.level || (!s.options.all_ranks && program_rank() != 0)) return;
  s.sink(level, message);
}

}  // namespace heatpp

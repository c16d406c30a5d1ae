#include <heatpp/comm/log.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace heatpp {
namespace {

constexpr std::string_view names[] = {"debug", "info", "warning"};

struct State {
  LogSink sink;
  LogOptions options;

  State() {
    const char* const wanted = std::getenv("HEATPP_LOG");
    if (!wanted || !*wanted) return;
    const auto found = std::ranges::find(names, wanted);
    if (found == std::end(names)) {
      if (program_rank() == 0)
        std::fprintf(stderr, "heatpp warning: [HEATPP_LOG] got \"%s\"; expected debug, info or warning\n", wanted);
      return;
    }
    options.level = static_cast<LogLevel>(found - std::begin(names));
    sink = [](LogLevel level, std::string_view text) {
      std::fprintf(stderr, "heatpp %s: %.*s\n", names[static_cast<int>(level)].data(), static_cast<int>(text.size()),
                   text.data());
    };
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

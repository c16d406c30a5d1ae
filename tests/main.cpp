// Runs the tests on every rank. Rank 0 reports, and so does any other rank that fails. The program fails if any rank
// fails, or if a test changes the state of the process: threads, floating-point mode, handlers (host_state.h). With
// HEATPP_TEST_THREADS=<level>, heatpp starts MPI only for serialized or funneled threads. With guest:<level>, a host
// starts MPI.
#include "host_state.h"

#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/environment.hpp>

#include <array>
#include <cstdlib>
#include <iostream>
#include <sstream>

namespace {

std::string host_state() {
  char text[host_state_length];
  host_state_of(text);
  return text;
}

int changed_hosts = 0;

#if CATCH_VERSION_MAJOR >= 3
using WatchBase = Catch::EventListenerBase;
unsigned seed_of_tests() { return Catch::getSeed(); }
#else
using WatchBase = Catch::TestEventListenerBase;
unsigned seed_of_tests() { return Catch::rngSeed(); }
#endif

struct HostWatch final : WatchBase {
  using WatchBase::WatchBase;
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    if (const auto seed = seed_of_tests()) std::srand(seed);  // as Catch2 then does
    before = host_state(), name = test.name;
  }
  void testCaseEnded(const Catch::TestCaseStats&) override {
    const auto after = host_state();
    if (after == before) return;
    ++changed_hosts;
    std::cout << "host state changed by \"" << name << "\": got " << after << "; expected " << before << std::endl;
  }
  std::string before, name;
};
CATCH_REGISTER_LISTENER(HostWatch)

int run_tests(int& argc, char**& argv, heatpp::Threads threads) {
  const heatpp::Environment env(argc, argv, {.threads = threads});
  const auto& world = heatpp::world();
  Catch::Session session;
  if (const int code = session.applyCommandLine(argc, argv)) return code;

  std::ostringstream quiet;
  auto* const terminal = std::cout.rdbuf();
  if (world.rank() != 0) std::cout.rdbuf(quiet.rdbuf());
  std::array<std::int64_t, 1> failed{session.run() + changed_hosts};
  std::cout.rdbuf(terminal);
  if (world.rank() != 0 && failed[0] != 0) std::cout << "rank " << world.rank() << ":\n" << quiet.str() << std::flush;

  world.allreduce(failed, heatpp::ReduceOp::max);
  return failed[0] != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const wanted = std::getenv("HEATPP_TEST_THREADS");
  const std::string_view text = wanted ? wanted : "multiple";
  const bool guest = text.starts_with("guest:"), funneled = text.ends_with("funneled");
  const auto less = funneled ? heatpp::Threads::funneled : heatpp::Threads::serialized;
  int provided = 0;
  if (guest) MPI_Init_thread(&argc, &argv, funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED, &provided);
  const int failed = run_tests(argc, argv, text == "multiple" ? heatpp::Threads::multiple : less);
  if (guest) MPI_Finalize();
  return failed;
}

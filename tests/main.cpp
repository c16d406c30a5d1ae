// Runs the tests on every rank, lets rank 0 report unless another rank failed, and fails if any rank did.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/environment.hpp>

#include <array>
#include <iostream>
#include <sstream>

int main(int argc, char** argv) {
  const heatpp::Environment env(argc, argv);
  const auto& world = heatpp::world();
  Catch::Session session;
  if (const int code = session.applyCommandLine(argc, argv)) return code;

  std::ostringstream quiet;
  auto* const terminal = std::cout.rdbuf();
  if (world.rank() != 0) std::cout.rdbuf(quiet.rdbuf());
  std::array<std::int64_t, 1> failed{session.run()};
  std::cout.rdbuf(terminal);
  if (world.rank() != 0 && failed[0] != 0) std::cout << "rank " << world.rank() << ":\n" << quiet.str() << std::flush;

  world.allreduce(failed, heatpp::ReduceOp::max);
  return failed[0] != 0;
}

#include "turns.hpp"

#include <mpi.h>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>

#include <array>
#include <chrono>
#include <iostream>
#include <thread>

namespace bench {

namespace ht = heatpp;

Turn take_turn(const Prepared& prepared) {
  prepared.release();
  const auto& world = ht::world();
  world.barrier();
  const auto bytes = ht::comm_report().bytes;
  const auto start = std::chrono::steady_clock::now();
  prepared.run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::array<double, 2> worst{seconds.count(), static_cast<double>(ht::comm_report().bytes - bytes)};
  world.allreduce(worst, ht::ReduceOp::max);
  return {worst[0], worst[1]};
}

bool another_turn() {
  int asked = 0;
  if (std::string line; ht::world().rank() == 0) asked = std::getline(std::cin, line) && line == "turn";
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&asked, 1, MPI_INT, 0, ht::to_mpi(ht::world()), &request);
  for (int arrived = 0; !arrived; std::this_thread::sleep_for(std::chrono::milliseconds(5)))
    MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
  return asked != 0;
}

}  // namespace bench

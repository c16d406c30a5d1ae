#pragma once

#include <mpi.h>
#include <nccl.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

/// NCCL's communicators over MPI messages in the world, distinguished by tags.
struct ncclComm {
  enum class State { meeting, introduced, ready, leaving, left };
  State state = State::meeting;
  int tag = 0, rank = 0, ranks = 1, device = 0;
  bool blocking = true, aborted = false;
  std::vector<int> members;  ///< ranks in the world
  ncclResult_t failure = ncclSuccess;

  std::vector<std::function<void()>> launches = {};  ///< not in their streams yet
  int questions_until_launched = 0;
  std::vector<std::array<int, 2>> met = {};  ///< rank here and in the world
  std::vector<MPI_Request> requests = {};

  void send(const void* data, int count, MPI_Datatype type, int rank_here, int purpose);
  void receive(void* data, int count, MPI_Datatype type, int rank_in_world, int purpose);
  [[nodiscard]] bool requests_ended();
};

namespace standin {

enum Purpose { hello, members, farewell, data, purposes };

/// Puts a collective into its stream: at once, at the end of the group, or, if the communicator does not block, some
/// time later.
ncclResult_t launch(ncclComm_t comm, int device_of_stream, std::function<void(std::shared_ptr<ncclComm>)> put);

}  // namespace standin

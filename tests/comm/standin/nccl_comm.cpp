#include "nccl_comm.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "control.hpp"
#include "device.hpp"

StandinFailures standin_failures{};

void ncclComm::send(const void* data, int count, MPI_Datatype type, int rank_here, int purpose) {
  MPI_Isend(data, count, type, members[static_cast<std::size_t>(rank_here)], tag + purpose, MPI_COMM_WORLD,
            &requests.emplace_back());
}
void ncclComm::receive(void* data, int count, MPI_Datatype type, int rank_in_world, int purpose) {
  MPI_Irecv(data, count, type, rank_in_world, tag + purpose, MPI_COMM_WORLD, &requests.emplace_back());
}
bool ncclComm::requests_ended() {
  int done = 0;
  MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (done) requests.clear();
  return done != 0;
}

namespace {

using State = ncclComm::State;

std::map<ncclComm_t, std::shared_ptr<ncclComm>>& alive() {
  static std::map<ncclComm_t, std::shared_ptr<ncclComm>> all;
  return all;
}
std::shared_ptr<ncclComm> find(ncclComm_t comm) {
  const auto found = alive().find(comm);
  if (found != alive().end()) return found->second;
  standin::misuse("a communicator of NCCL's that does not exist");
  return nullptr;
}

/// It is kept, because MPI may still write to it, and late calls on it are noticed.
void bury(const std::shared_ptr<ncclComm>& comm) {
  static std::vector<std::shared_ptr<ncclComm>> buried;
  buried.push_back(comm);
  alive().erase(comm.get());
}

/// Switches to the communicator's device, and back to the one that NCCL takes as current.
class There {
 public:
  explicit There(int device) : before_(standin::get_device()) { standin::set_device(device); }
  ~There() { standin::set_device(before_); }
  There(const There&) = delete;
  There& operator=(const There&) = delete;

 private:
  int before_;
};

thread_local int open_groups = 0;
thread_local ncclResult_t group_failure = ncclSuccess;
struct Queued {
  std::shared_ptr<ncclComm> comm;
  std::function<void(std::shared_ptr<ncclComm>)> put;
};
thread_local std::vector<Queued> queued;

/// Each rank sends a greeting to rank 0, which tells them all members.
void begin_to_meet(ncclComm& comm, int root, int me) {
  comm.members.assign(static_cast<std::size_t>(comm.ranks), me);
  comm.met.assign(static_cast<std::size_t>(comm.ranks), {comm.rank, me});
  comm.members[0] = comm.rank == 0 ? me : root;
  if (comm.rank != 0) return comm.send(comm.met[0].data(), 2, MPI_INT, 0, standin::hello);
  for (int i = 1; i < comm.ranks; ++i)
    comm.receive(comm.met[static_cast<std::size_t>(i)].data(), 2, MPI_INT, MPI_ANY_SOURCE, standin::hello);
}
void introduce(ncclComm& comm) {
  if (comm.rank != 0) return comm.receive(comm.members.data(), comm.ranks, MPI_INT, comm.members[0], standin::members);
  for (const auto& [rank, in_world] : comm.met) comm.members[static_cast<std::size_t>(rank)] = in_world;
  for (int i = 1; i < comm.ranks; ++i) comm.send(comm.members.data(), comm.ranks, MPI_INT, i, standin::members);
}
void begin_to_leave(ncclComm& comm) {
  static char nothing[2];
  for (int i = 0; i < comm.ranks; ++i) {
    if (i == comm.rank) continue;
    comm.send(&nothing[0], 1, MPI_CHAR, i, standin::farewell);
    comm.receive(&nothing[1], 1, MPI_CHAR, comm.members[static_cast<std::size_t>(i)], standin::farewell);
  }
  comm.state = State::leaving;
}

void advance(ncclComm& comm) {
  if (comm.failure != ncclSuccess) return;
  if (comm.state == State::meeting && comm.requests_ended()) {
    introduce(comm);
    comm.state = State::introduced;
  }
  if (comm.state == State::introduced && comm.requests_ended()) comm.state = State::ready;
  if (comm.state == State::leaving && comm.requests_ended()) comm.state = State::left;
  if (!comm.launches.empty() && --comm.questions_until_launched == 0)
    for (const auto& launch : std::exchange(comm.launches, {})) launch();
}

ncclResult_t state_of(const ncclComm& comm) {
  if (comm.failure != ncclSuccess) return comm.failure;
  if (comm.state != State::ready && comm.state != State::left) return ncclInProgress;
  if (standin_failures.async != ncclSuccess) return standin_failures.async;
  return comm.launches.empty() ? ncclSuccess : ncclInProgress;
}

ncclResult_t launch_all(std::vector<Queued> all) {
  auto result = ncclSuccess;
  for (auto& [comm, put] : all) {
    const There there(comm->device);
    if (comm->blocking) {
      put(comm);
      continue;
    }
    comm->launches.push_back([comm = comm.get(), put = std::move(put)] {
      const There then(comm->device);
      put(find(comm));
    });
    comm->questions_until_launched = 3;
    result = ncclInProgress;
  }
  return result;
}

template <class Condition>
ncclResult_t await(const std::shared_ptr<ncclComm>& comm, Condition ended) {
  for (;; std::this_thread::yield()) {
    const standin::Lock lock;
    advance(*comm);
    if (comm->failure != ncclSuccess || ended()) return comm->failure;
  }
}

}  // namespace

ncclResult_t standin::launch(ncclComm_t handle, int device_of_stream,
                             std::function<void(std::shared_ptr<ncclComm>)> put) {
  const auto comm = find(handle);
  if (!comm) return ncclInvalidArgument;
  if (state_of(*comm) == ncclInProgress) {
    misuse("a call of NCCL's before the one before it has returned");
    return ncclInvalidArgument;
  }
  if (comm->device != device_of_stream) {
    misuse("a stream of another device than the communicator's");
    return ncclInvalidUsage;
  }
  const There there(comm->device);
  auto& failures = standin_failures;
  if (failures.call != ncclSuccess && failures.calls_before-- == 0) {
    if (open_groups > 0) group_failure = failures.call;
    return failures.call;
  }
  if (open_groups == 0) return launch_all({{comm, std::move(put)}});
  queued.push_back({comm, std::move(put)});
  return ncclSuccess;
}

extern "C" {

int standin_open_groups() { return open_groups; }
int standin_communicators() {
  const standin::Lock lock;
  return static_cast<int>(alive().size());
}

const char* ncclGetErrorString(ncclResult_t) { return "an error of the stand-in"; }

/// Names the rank of the world at which the others meet, and the tag of their messages.
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  if (standin_failures.unique_id != ncclSuccess) return standin_failures.unique_id;
  std::array<int, 2> meeting{};
  MPI_Comm_rank(MPI_COMM_WORLD, &meeting[0]);
  meeting[1] = (1000 * meeting[0] + ++made) * standin::purposes;
  std::memcpy(id->internal, meeting.data(), sizeof meeting);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* handle, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  std::shared_ptr<ncclComm> comm;
  {
    const standin::Lock lock;
    std::array<int, 2> meeting{};
    std::memcpy(meeting.data(), id.internal, sizeof meeting);
    if (meeting[1] == 0) {
      standin::misuse("an id that ncclGetUniqueId has not made");
      return ncclInvalidArgument;
    }
    comm = std::make_shared<ncclComm>();
    comm->tag = meeting[1];
    comm->rank = rank;
    comm->ranks = ranks;
    comm->device = standin::use_device();
    comm->blocking = !config || config->blocking != 0;
    *handle = comm.get();
    alive()[comm.get()] = comm;
    if (open_groups > 0) return ncclSuccess;  // it is made when the group ends, which the stand-in omits
    comm->failure = standin_failures.init;
    int me = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (comm->failure == ncclSuccess) begin_to_meet(*comm, meeting[0], me);
  }
  if (!comm->blocking) return ncclInProgress;
  return await(comm, [&] { return comm->state == State::ready; });
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* failure) {
  const standin::Lock lock;
  const auto comm = find(handle);
  if (!comm) return ncclInvalidArgument;
  advance(*comm);
  *failure = state_of(*comm);
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  std::shared_ptr<ncclComm> comm;
  {
    const standin::Lock lock;
    comm = find(handle);
    if (!comm || comm->state != State::ready) return ncclInvalidArgument;
    const There there(comm->device);
    begin_to_leave(*comm);
  }
  return comm->blocking ? await(comm, [&] { return comm->state == State::left; }) : ncclInProgress;
}

/// Waits for ranks that have not said farewell.
ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  std::shared_ptr<ncclComm> comm;
  {
    const standin::Lock lock;
    comm = find(handle);
    if (!comm) return ncclInvalidArgument;
    const There there(comm->device);
    if (comm->state == State::ready) begin_to_leave(*comm);
  }
  const auto code = await(comm, [&] { return comm->state == State::left; });
  const standin::Lock lock;
  bury(comm);
  return code;
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  const standin::Lock lock;
  const auto comm = find(handle);
  if (!comm) return ncclInvalidArgument;
  if (open_groups > 0) standin::misuse("a communicator that is aborted in an open group");
  const There there(comm->device);
  comm->aborted = true;
  bury(comm);
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++open_groups;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  const standin::Lock lock;
  if (open_groups == 0) {
    standin::misuse("ncclGroupEnd without ncclGroupStart");
    return ncclInvalidUsage;
  }
  if (--open_groups > 0) return ncclSuccess;
  auto all = std::exchange(queued, {});
  const auto failure = std::exchange(group_failure, ncclSuccess);
  return failure != ncclSuccess ? failure : launch_all(std::move(all));
}
}

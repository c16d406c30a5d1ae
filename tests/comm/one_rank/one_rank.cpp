#include "one_rank.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

extern "C" {
void* __libc_malloc(std::size_t);  // glibc's, which no program counts
void __libc_free(void*);
}

namespace {

struct Place {
  int rank = 0, ranks = 1;
};

/// Memory that does not count as the rank's.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : data_(static_cast<std::byte*>(__libc_malloc(size))), size_(size) {}
  ~Bytes() { __libc_free(data_); }
  Bytes(Bytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  Bytes& operator=(Bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* data_;
  std::size_t size_;
};

struct Message {
  int tag;
  Bytes content;
};
struct Receive {
  void* to;
  int count;
  MPI_Datatype type;
  int peer, tag;
  MPI_Request request;
};

struct State {
  Place world;
  std::map<MPI_Comm, Place> places;
  one_rank::Sent sent;
  one_rank::Says says;
  std::deque<Message> latest;     // what was sent last
  std::vector<Receive> receives;  // not yet looked at
};
State& state() {
  static auto& instance = *new State;  // MPI ends after static objects
  return instance;
}
constexpr std::size_t remembered = 32;

Place place_of(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return state().world;
  const auto found = state().places.find(comm);
  return found == state().places.end() ? Place{} : found->second;
}

std::size_t size_of(MPI_Datatype type, int count = 1) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return static_cast<std::size_t>(bytes) * static_cast<std::size_t>(count);
}

Bytes packed(const void* data, int count, MPI_Datatype type) {
  Bytes bytes(size_of(type, count));
  int position = 0;
  if (type == MPI_BYTE) std::memcpy(bytes.data(), data, bytes.size());
  else PMPI_Pack(data, count, type, bytes.data(), static_cast<int>(bytes.size()), &position, MPI_COMM_SELF);
  return bytes;
}

/// Returns what this rank sent last in that call.
const Message* answer_to(const Receive& receive) {
  const auto& latest = state().latest;
  const auto found = std::find_if(latest.rbegin(), latest.rend(), [&](const Message& message) {
    return message.tag == receive.tag && message.content.size() > 0;
  });
  return found == latest.rend() ? nullptr : &*found;
}

/// Writes what the peer sent. A message of another size is repeated, or cut.
void arrive(const Receive& receive) {
  Bytes content(size_of(receive.type, receive.count));
  std::memset(content.data(), 0, content.size());
  if (const auto* const answer = answer_to(receive))
    for (std::size_t i = 0; i < content.size(); i += answer->content.size())
      std::memcpy(content.data() + i, answer->content.data(), std::min(answer->content.size(), content.size() - i));
  if (state().says) state().says(one_rank::Call::message, receive.peer, {content.data(), content.size()});
  int position = 0;
  if (receive.type == MPI_BYTE) std::memcpy(receive.to, content.data(), content.size());
  else
    PMPI_Unpack(content.data(), static_cast<int>(content.size()), &position, receive.to, receive.count, receive.type,
                MPI_COMM_SELF);
}

/// A rank looks at a message only after it has sent what it sends in the same step.
void settle() {
  for (auto& receive : state().receives) {
    arrive(receive);
    PMPI_Grequest_complete(receive.request);
    if (receive.type != MPI_BYTE) PMPI_Type_free(&receive.type);
  }
  state().receives.clear();
}

void count_collective(std::size_t bytes) {
  ++state().sent.collectives;
  state().sent.collective_bytes += static_cast<std::int64_t>(bytes);
}
int done(MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

/// Turns the data into the reduction of `ranks` times the same.
void repeat(void* data, int count, MPI_Datatype type, MPI_Op op, int ranks) {
  if (op == MPI_SUM && type == MPI_INT64_T) {
    auto* const numbers = static_cast<std::int64_t*>(data);
    for (int i = 0; i < count; ++i)
      numbers[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(numbers[i]) * static_cast<unsigned>(ranks));
    return;
  }
  Bytes power(size_of(type, count)), once(power.size());
  std::memcpy(power.data(), data, power.size());
  for (auto left = static_cast<unsigned>(ranks - 1); left > 0; left /= 2) {
    if (left % 2) PMPI_Reduce_local(power.data(), data, count, type, op);
    std::memcpy(once.data(), power.data(), power.size());
    PMPI_Reduce_local(once.data(), power.data(), count, type, op);
  }
}

int scan(const void* from, void* data, int count, MPI_Datatype type, MPI_Op op, int ranks, MPI_Request* request) {
  count_collective(size_of(type, count));
  if (from != MPI_IN_PLACE) std::memcpy(data, from, size_of(type, count));
  if (ranks > 0) repeat(data, count, type, op, ranks);
  return done(request);
}

int no_query(void*, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int no_free(void*) { return MPI_SUCCESS; }
int no_cancel(void*, int) { return MPI_SUCCESS; }

int make_alone(MPI_Comm* made) {
  const int code = PMPI_Comm_dup(MPI_COMM_SELF, made);
  state().places[*made] = {};
  return code;
}

}  // namespace

void one_rank::become(int rank, int ranks) { state().world = {rank, ranks}; }
one_rank::Sent one_rank::sent() { return state().sent; }
void one_rank::let_ranks_say(Says says) { state().says = std::move(says); }

extern "C" {

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = place_of(comm).rank;
  return MPI_SUCCESS;
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = place_of(comm).ranks;
  return MPI_SUCCESS;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  const auto place = place_of(comm);
  const int code = PMPI_Comm_dup(comm, made);
  state().places[*made] = place;
  return code;
}
// Every rank is on a node of its own.
int MPI_Comm_split_type(MPI_Comm, int, int, MPI_Info, MPI_Comm* made) { return make_alone(made); }
// All ranks do the same as this one, so all are in its group.
int MPI_Comm_split(MPI_Comm comm, int, int, MPI_Comm* made) { return MPI_Comm_dup(comm, made); }
int MPI_Comm_free(MPI_Comm* comm) {
  state().places.erase(*comm);
  return PMPI_Comm_free(comm);
}
int MPI_Group_size(MPI_Group, int* size) {
  *size = state().world.ranks;
  return MPI_SUCCESS;
}
int MPI_Group_translate_ranks(MPI_Group, int n, const int* ranks, MPI_Group, int* others) {
  std::copy_n(ranks, n, others);
  return MPI_SUCCESS;
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int, int tag, MPI_Comm, MPI_Request* request) {
  auto& all = state();
  ++all.sent.messages;
  all.sent.bytes += static_cast<std::int64_t>(size_of(type, count));
  all.latest.push_back({tag, packed(data, count, type)});
  if (all.latest.size() > remembered) all.latest.pop_front();
  return done(request);
}
int MPI_Irecv(void* to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm, MPI_Request* request) {
  PMPI_Grequest_start(&no_query, &no_free, &no_cancel, nullptr, request);
  if (type != MPI_BYTE) PMPI_Type_dup(type, &type);  // which may be freed before the message arrives
  state().receives.push_back({to, count, type, peer, tag, *request});
  return MPI_SUCCESS;
}
int MPI_Iprobe(int, int, MPI_Comm, int* found, MPI_Status*) {
  *found = 0;
  return MPI_SUCCESS;
}
int MPI_Improbe(int, int, MPI_Comm, int* found, MPI_Message*, MPI_Status*) {
  *found = 0;
  return MPI_SUCCESS;
}
int MPI_Test(MPI_Request* request, int* ended, MPI_Status* status) {
  settle();
  return PMPI_Test(request, ended, status);
}
int MPI_Testall(int count, MPI_Request* requests, int* ended, MPI_Status* statuses) {
  settle();
  return PMPI_Testall(count, requests, ended, statuses);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  settle();
  return PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  settle();
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  settle();
  return PMPI_Waitany(count, requests, index, status);
}

int MPI_Ibarrier(MPI_Comm, MPI_Request* request) {
  count_collective(0);
  return done(request);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm, MPI_Request* request) {
  count_collective(size_of(type, count));
  if (state().says)
    state().says(one_rank::Call::broadcast, root, {static_cast<std::byte*>(data), size_of(type, count)});
  return done(request);
}
int MPI_Iallreduce(const void* from, void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  const auto [rank, ranks] = place_of(comm);
  const int code = scan(from, data, count, type, op, ranks, request);
  if (state().says)
    state().says(one_rank::Call::allreduce, rank, {static_cast<std::byte*>(data), size_of(type, count)});
  return code;
}
int MPI_Iscan(const void* from, void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request* request) {
  return scan(from, data, count, type, op, place_of(comm).rank + 1, request);
}
int MPI_Iexscan(const void* from, void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  return scan(from, data, count, type, op, place_of(comm).rank, request);
}
int MPI_Ialltoall(const void* from, int count, MPI_Datatype type, void* to, int, MPI_Datatype, MPI_Comm comm,
                  MPI_Request* request) {
  const auto [rank, ranks] = place_of(comm);
  const auto bytes = size_of(type, count);
  count_collective(bytes * static_cast<std::size_t>(ranks - 1));
  const auto* const mine = static_cast<const std::byte*>(from) + bytes * static_cast<std::size_t>(rank);
  for (int peer = 0; peer < ranks; ++peer) {
    const std::span part(static_cast<std::byte*>(to) + bytes * static_cast<std::size_t>(peer), bytes);
    std::memcpy(part.data(), mine, bytes);
    if (state().says) state().says(one_rank::Call::alltoall, peer, part);
  }
  return done(request);
}
int MPI_Iallgatherv(const void*, int, MPI_Datatype, void* all, const int* counts, const int* first, MPI_Datatype type,
                    MPI_Comm comm, MPI_Request* request) {
  const auto [rank, ranks] = place_of(comm);
  const auto part = [&, bytes = size_of(type)](int of) {
    return std::span(static_cast<std::byte*>(all) + bytes * static_cast<std::size_t>(first[of]),
                     bytes * static_cast<std::size_t>(counts[of]));
  };
  const auto mine = part(rank);
  count_collective(mine.size());
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    std::memcpy(part(peer).data(), mine.data(), std::min(part(peer).size(), mine.size()));
    if (state().says) state().says(one_rank::Call::allgather, peer, part(peer));
  }
  return done(request);
}
}

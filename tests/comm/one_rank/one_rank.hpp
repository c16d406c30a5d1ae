#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

/// One rank of many, alone in its process. MPI's functions that send are replaced: every other rank is taken to hold
/// and do the same as this one. So a message from a rank has the contents that this rank sent last in the same call,
/// repeated or cut to its size, or zeros if there are none, and a sum over the ranks is the number of ranks times this
/// rank's part. Programs that link this library count what one rank sends, for any number of ranks. If the number is a
/// power of two, places in the whole are right, too.
namespace one_rank {

/// Makes this process `rank` of `ranks` in communicators that are made from MPI_COMM_WORLD from now on.
void become(int rank, int ranks);

/// What the rank has sent: its messages, and the calls of MPI's own collectives with the bytes that it gave them.
struct Sent {
  std::int64_t messages = 0, bytes = 0, collectives = 0, collective_bytes = 0;
  friend Sent operator-(const Sent& a, const Sent& b) {
    return {a.messages - b.messages, a.bytes - b.bytes, a.collectives - b.collectives,
            a.collective_bytes - b.collective_bytes};
  }
};
[[nodiscard]] Sent sent();

/// Lets `says` change what arrives from a rank: in a message, as its part of an allgather or an alltoall, or as the
/// data of the root of a broadcast (it may also look at what this rank broadcasts itself). After MPI's own all-reduce
/// `rank` is this one, and `part` the result. Empty: nothing changes.
enum class Call { message, allgather, alltoall, broadcast, allreduce };
using Says = std::function<void(Call call, int rank, std::span<std::byte> part)>;
void let_ranks_say(Says says);

}  // namespace one_rank

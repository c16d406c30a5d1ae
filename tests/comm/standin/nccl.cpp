// NCCL's collectives. A reduction first gathers the data of all ranks.
#include <nccl.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "device.hpp"
#include "nccl_comm.hpp"

namespace {

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    default: return 1;
  }
}

struct Bfloat16 {
  std::uint16_t bits;
  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  Bfloat16(float value) : bits(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)) {}
};

template <class T>
T combine(T a, T b, ncclRedOp_t op) {
  switch (op) {
    case ncclProd: return static_cast<T>(a * b);
    case ncclMin: return b < a ? b : a;
    case ncclMax: return a < b ? b : a;
    default: return static_cast<T>(a + b);
  }
}

template <class T>
void reduce(const std::byte* all, std::size_t ranks, std::size_t count, ncclRedOp_t op, std::size_t first,
            std::size_t wanted, void* out) {
  const auto* const values = reinterpret_cast<const T*>(all);
  for (std::size_t i = first; i < first + wanted; ++i) {
    auto sum = values[i];
    for (std::size_t r = 1; r < ranks; ++r) sum = combine<T>(sum, values[r * count + i], op);
    if (op == ncclAvg) sum = static_cast<T>(sum / static_cast<T>(ranks));
    static_cast<T*>(out)[i - first] = sum;
  }
}

using Reduce = void (*)(const std::byte*, std::size_t, std::size_t, ncclRedOp_t, std::size_t, std::size_t, void*);
Reduce reduce_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8: return &reduce<std::int8_t>;
    case ncclInt32: return &reduce<std::int32_t>;
    case ncclInt64: return &reduce<std::int64_t>;
    case ncclFloat32: return &reduce<float>;
    case ncclFloat64: return &reduce<double>;
    case ncclBfloat16: return &reduce<Bfloat16>;
    default: return &reduce<std::uint8_t>;
  }
}

using Last = std::function<void(const std::byte* all)>;

/// The data of a collective under way; `all` are the ranks' parts, in order.
struct Gathering {
  std::shared_ptr<ncclComm> comm;
  const void* from;
  std::size_t bytes;
  Last last;
  std::vector<std::byte> all = {};
  std::vector<MPI_Request> requests = {};

  std::byte* part(int rank) { return all.data() + bytes * static_cast<std::size_t>(rank); }
  void begin() {
    all.resize(bytes * static_cast<std::size_t>(comm->ranks) + 1);
    if (bytes > 0) std::memcpy(part(comm->rank), standin::seen(from), bytes);
    const auto n = static_cast<int>(bytes);
    for (int r = 0; r < comm->ranks; ++r) {
      if (r == comm->rank) continue;
      const int other = comm->members[static_cast<std::size_t>(r)], tag = comm->tag + standin::data;
      MPI_Irecv(part(r), n, MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests.emplace_back());
      MPI_Isend(part(comm->rank), n, MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests.emplace_back());
    }
  }
  bool step() {
    if (all.empty()) begin();
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done) last(all.data());
    return done != 0;
  }
};

/// Gathers the data of all ranks at `from`, then calls `last` with them.
ncclResult_t gather(const void* from, std::size_t bytes, ncclComm_t handle, cudaStream_t stream, Last last) {
  const standin::Lock lock;
  if (bytes > 0 && !standin::in_device(from, bytes)) {
    standin::misuse("a buffer of NCCL's that is not in memory of a device");
    return ncclInvalidArgument;
  }
  return standin::launch(handle, standin::device_of(stream), [=](const std::shared_ptr<ncclComm>& comm) {
    const auto state = std::make_shared<Gathering>(Gathering{comm, from, bytes, last});
    standin::put(stream, {[state] {
                   if (!state->comm->aborted) return state->step();
                   static std::vector<std::shared_ptr<Gathering>> unfinished;  // MPI may still write to these
                   unfinished.push_back(state);
                   return true;
                 }});
  });
}

}  // namespace

extern "C" {

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  const auto ranks = static_cast<std::size_t>(comm->ranks);
  return gather(from, count * size_of(type), comm, stream,
                [=](const std::byte* all) { reduce_of(type)(all, ranks, count, op, 0, count, standin::seen(to)); });
}
ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  const auto ranks = static_cast<std::size_t>(comm->ranks);
  return gather(from, count * size_of(type), comm, stream, [=, is_root = comm->rank == root](const std::byte* all) {
    if (is_root) reduce_of(type)(all, ranks, count, op, 0, count, standin::seen(to));
  });
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  const auto ranks = static_cast<std::size_t>(comm->ranks), first = static_cast<std::size_t>(comm->rank) * count;
  return gather(from, ranks * count * size_of(type), comm, stream, [=](const std::byte* all) {
    reduce_of(type)(all, ranks, ranks * count, op, first, count, standin::seen(to));
  });
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  const auto bytes = count * size_of(type), whole = bytes * static_cast<std::size_t>(comm->ranks);
  return gather(from, bytes, comm, stream, [=](const std::byte* all) { std::memcpy(standin::seen(to), all, whole); });
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const auto bytes = count * size_of(type);
  return gather(from, bytes, comm, stream, [=](const std::byte* all) {
    std::memcpy(standin::seen(to), all + bytes * static_cast<std::size_t>(root), bytes);
  });
}
}

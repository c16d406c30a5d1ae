// NCCL's calls over MPI: whatever is reduced is first gathered from all ranks.
#include "device.hpp"

#include <mpi.h>
#include <nccl.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

struct ncclComm {
  MPI_Comm mpi = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  bool aborted = false;
};

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

/// Gathers what all ranks have at `from`, and then calls `last` with it.
ncclResult_t gather(const void* from, std::size_t bytes, ncclComm_t comm, cudaStream_t stream,
                    std::function<void(const std::byte* all)> last) {
  struct Gathering {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::byte> mine, all;
  };
  standin::put(stream, [=, state = std::make_shared<Gathering>()] {
    if (comm->aborted) {
      static std::vector<std::shared_ptr<Gathering>> unfinished;  // MPI may still write to it
      unfinished.push_back(state);
      return true;
    }
    if (state->all.empty()) {
      const auto* const at = static_cast<const std::byte*>(standin::seen(from));
      state->mine.assign(at, at + bytes);
      state->all.resize(bytes * static_cast<std::size_t>(comm->ranks) + 1);
      const auto n = static_cast<int>(bytes);
      MPI_Iallgather(state->mine.data(), n, MPI_BYTE, state->all.data(), n, MPI_BYTE, comm->mpi, &state->request);
    }
    int done = 0;
    MPI_Test(&state->request, &done, MPI_STATUS_IGNORE);
    if (done) last(state->all.data());
    return done != 0;
  });
  return ncclSuccess;
}

constexpr int tag = 77;

}  // namespace

extern "C" {

const char* ncclGetErrorString(ncclResult_t) { return "an error of the stand-in"; }

/// Names a rank of the world that the others meet at.
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::memcpy(id->internal, &rank, sizeof rank);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  int root = 0, me = 0;
  std::memcpy(&root, id.internal, sizeof root);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  std::vector<int> members(static_cast<std::size_t>(ranks));
  if (rank == 0) {
    members[0] = me;
    for (int i = 1; i < ranks; ++i) {
      int who[2];
      MPI_Recv(who, 2, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      members[static_cast<std::size_t>(who[0])] = who[1];
    }
    for (int i = 1; i < ranks; ++i)
      MPI_Send(members.data(), ranks, MPI_INT, members[static_cast<std::size_t>(i)], tag + 1, MPI_COMM_WORLD);
  } else {
    const int who[] = {rank, me};
    MPI_Send(who, 2, MPI_INT, root, tag, MPI_COMM_WORLD);
    MPI_Recv(members.data(), ranks, MPI_INT, root, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, ranks, members.data(), &group);
  auto made = std::make_unique<ncclComm>();
  MPI_Comm_create_group(MPI_COMM_WORLD, group, tag + 2, &made->mpi);
  made->rank = rank;
  made->ranks = ranks;
  *comm = made.release();
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  MPI_Comm_free(&comm->mpi);
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->aborted = true;  // what is in streams still refers to it
  return ncclSuccess;
}

ncclResult_t standin_failure = ncclSuccess;
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* failure) {
  *failure = standin_failure;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return gather(from, count * size_of(type), comm, stream, [=](const std::byte* all) {
    reduce_of(type)(all, static_cast<std::size_t>(comm->ranks), count, op, 0, count, standin::seen(to));
  });
}
ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return gather(from, count * size_of(type), comm, stream, [=](const std::byte* all) {
    if (comm->rank != root) return;
    reduce_of(type)(all, static_cast<std::size_t>(comm->ranks), count, op, 0, count, standin::seen(to));
  });
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  const auto ranks = static_cast<std::size_t>(comm->ranks);
  return gather(from, ranks * count * size_of(type), comm, stream, [=](const std::byte* all) {
    const auto first = static_cast<std::size_t>(comm->rank) * count;
    reduce_of(type)(all, ranks, ranks * count, op, first, count, standin::seen(to));
  });
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  const auto bytes = count * size_of(type);
  return gather(from, bytes, comm, stream, [=](const std::byte* all) {
    std::memcpy(standin::seen(to), all, bytes * static_cast<std::size_t>(comm->ranks));
  });
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const auto bytes = count * size_of(type);
  return gather(from, bytes, comm, stream, [=](const std::byte* all) {
    std::memcpy(standin::seen(to), all + bytes * static_cast<std::size_t>(root), bytes);
  });
}
}

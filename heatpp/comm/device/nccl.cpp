#include <nccl.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/library.hpp>
#include <heatpp/comm/device/nccl.hpp>

#include <algorithm>

#define NCCL(name) HEATPP_FROM(library(), name)

namespace heatpp::nccl {
namespace {

const device::Library& library() {
  static const device::Library instance("HEATPP_NCCL", {"libnccl.so.2", "libnccl.so"});
  return instance;
}

void check_nccl(ncclResult_t code, const char* what) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  detail::raise<CommError>(what, "got the NCCL error \"{}\"; expected success", NCCL(ncclGetErrorString)(code));
}

ncclComm_t comm_of(void* comm) {
  if (!comm) detail::raise<CommError>("nccl", "got a group that was given up; expected one in which no rank failed");
  return static_cast<ncclComm_t>(comm);
}
cudaStream_t stream_of(const cuda::Stream& stream) { return static_cast<cudaStream_t>(stream.handle()); }

/// How NCCL sees elements that are to be reduced: complex numbers are pairs.
struct Elements {
  ncclDataType_t type;
  std::size_t each = 1;
};
Elements elements_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_:
    case Dtype::uint8: return {ncclUint8};
    case Dtype::int8: return {ncclInt8};
    case Dtype::int32: return {ncclInt32};
    case Dtype::int64: return {ncclInt64};
    case Dtype::float16: return {ncclFloat16};
    case Dtype::bfloat16: return {ncclBfloat16};
    case Dtype::float32: return {ncclFloat32};
    case Dtype::float64: return {ncclFloat64};
    case Dtype::complex64: return {ncclFloat32, 2};
    case Dtype::complex128: return {ncclFloat64, 2};
    case Dtype::int16: break;
  }
  detail::raise<TypeError>("nccl", "got elements of {}; expected a dtype that NCCL reduces", name(dtype));
}

ncclRedOp_t op_of(ReduceOp op, Dtype dtype) {
  // The sum of booleans is "any", their product "all"; as bytes 0 and 1 these are max and min.
  if (dtype == Dtype::bool_) return op == ReduceOp::sum || op == ReduceOp::max ? ncclMax : ncclMin;
  switch (op) {
    case ReduceOp::sum: return ncclSum;
    case ReduceOp::prod: return ncclProd;
    case ReduceOp::min: return ncclMin;
    case ReduceOp::max: return ncclMax;
    case ReduceOp::mean: return ncclAvg;
  }
  return ncclSum;
}

bool all_equal(std::span<const std::int64_t> counts) {
  return std::ranges::adjacent_find(counts, std::not_equal_to()) == counts.end();
}

/// Calls f(first, count, rank) for the parts that hold something, as one call of NCCL's.
template <class F>
void for_each_part(std::span<const std::int64_t> counts, F f) {
  check_nccl(NCCL(ncclGroupStart)(), "ncclGroupStart");
  std::int64_t first = 0;
  for (std::size_t rank = 0; rank < counts.size(); first += counts[rank++])
    if (counts[rank] > 0) f(first, counts[rank], static_cast<int>(rank));
  check_nccl(NCCL(ncclGroupEnd)(), "ncclGroupEnd");
}

Buffer part_of(const Buffer& data, std::int64_t first, std::int64_t count) {
  auto* const at = static_cast<std::byte*>(data.data) + first * static_cast<std::int64_t>(itemsize(data.dtype));
  return {at, count, data.dtype, data.memory};
}

}  // namespace

bool available() { return library().loaded(); }

bool reduces(Dtype dtype, ReduceOp op) {
  const bool sums = op == ReduceOp::sum || op == ReduceOp::mean;
  if (dtype == Dtype::complex64 || dtype == Dtype::complex128) return sums;
  if (dtype >= Dtype::float16) return sums || op == ReduceOp::prod;
  return dtype != Dtype::int16;
}

Group::Group(const Communicator& comm) : rank_(comm.rank()), ranks_(comm.size()) {
  ncclUniqueId id{};
  all_or_none(comm, [&] {
    if (rank_ == 0) check_nccl(NCCL(ncclGetUniqueId)(&id), "ncclGetUniqueId");
  });
  comm.broadcast({id.internal, sizeof id.internal, int8}, 0);
  ncclComm_t made = nullptr;
  all_or_none(comm, [&] { check_nccl(NCCL(ncclCommInitRank)(&made, ranks_, id, rank_), "ncclCommInitRank"); });
  comm_ = made;
}

Group::~Group() {
  if (comm_) NCCL(ncclCommDestroy)(comm_of(comm_));
}

void Group::abort() {
  if (comm_) NCCL(ncclCommAbort)(comm_of(std::exchange(comm_, nullptr)));
}

void Group::check() {
  ncclResult_t failure = ncclSuccess;
  check_nccl(NCCL(ncclCommGetAsyncError)(comm_of(comm_), &failure), "ncclCommGetAsyncError");
  if (failure == ncclSuccess || failure == ncclInProgress) return;
  abort();
  check_nccl(failure, "collective");
}

void Group::allreduce(const Buffer& data, ReduceOp op, const cuda::Stream& stream) {
  const auto [type, each] = elements_of(data.dtype);
  check_nccl(NCCL(ncclAllReduce)(data.data, data.data, static_cast<std::size_t>(data.count) * each, type,
                                 op_of(op, data.dtype), comm_of(comm_), stream_of(stream)),
             "ncclAllReduce");
}

void Group::reduce(const Buffer& data, int root, ReduceOp op, const cuda::Stream& stream) {
  const auto [type, each] = elements_of(data.dtype);
  check_nccl(NCCL(ncclReduce)(data.data, data.data, static_cast<std::size_t>(data.count) * each, type,
                              op_of(op, data.dtype), root, comm_of(comm_), stream_of(stream)),
             "ncclReduce");
}

void Group::broadcast(const Buffer& data, int root, const cuda::Stream& stream) {
  check_nccl(NCCL(ncclBroadcast)(data.data, data.data, static_cast<std::size_t>(data.bytes()), ncclUint8, root,
                                 comm_of(comm_), stream_of(stream)),
             "ncclBroadcast");
}

void Group::reduce_scatter(const Buffer& data, Counts counts, ReduceOp op, const cuda::Stream& stream) {
  if (!all_equal(counts)) {
    return for_each_part(counts, [&](std::int64_t first, std::int64_t count, int owner) {
      reduce(part_of(data, first, count), owner, op, stream);
    });
  }
  const auto [type, each] = elements_of(data.dtype);
  const auto mine = part_of(data, rank_ * counts[0], counts[0]);
  check_nccl(NCCL(ncclReduceScatter)(data.data, mine.data, static_cast<std::size_t>(mine.count) * each, type,
                                     op_of(op, data.dtype), comm_of(comm_), stream_of(stream)),
             "ncclReduceScatter");
}

void Group::allgather(const Buffer& data, Counts counts, const cuda::Stream& stream) {
  if (!all_equal(counts)) {
    return for_each_part(counts, [&](std::int64_t first, std::int64_t count, int owner) {
      broadcast(part_of(data, first, count), owner, stream);
    });
  }
  const auto mine = part_of(data, rank_ * counts[0], counts[0]);
  check_nccl(NCCL(ncclAllGather)(mine.data, data.data, static_cast<std::size_t>(mine.bytes()), ncclUint8,
                                 comm_of(comm_), stream_of(stream)),
             "ncclAllGather");
}

}  // namespace heatpp::nccl

#include <heatpp/comm/device/nccl/nccl.hpp>

#include <heatpp/comm/device/nccl/detail/group_impl.hpp>

#include <algorithm>

namespace heatpp::nccl {
namespace {

cudaStream_t stream_of(const cuda::Stream& stream) { return static_cast<cudaStream_t>(stream.handle()); }

/// How NCCL sees elements of reductions: a complex number is a pair.
struct Elements {
  ncclDataType_t type;
  std::int64_t each = 1;
  [[nodiscard]] std::size_t of(std::int64_t count) const { return static_cast<std::size_t>(count * each); }
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
  // The sum of booleans is "any", the product is "all"; for bytes 0 and 1 these are max and min.
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

/// Calls that NCCL takes together. If a group stays open it takes all later calls of the thread, too.
class Together {
 public:
  Together() : code_(NCCL(ncclGroupStart)()), open_(code_ == ncclSuccess) {}
  ~Together() {
    if (open_) NCCL(ncclGroupEnd)();
  }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;
  [[nodiscard]] ncclResult_t code() const { return code_; }
  ncclResult_t end() {
    open_ = false;
    return NCCL(ncclGroupEnd)();
  }

 private:
  ncclResult_t code_;
  bool open_;
};

/// Calls f(first, count, rank) for the parts that are not empty, as one NCCL call; makes none if one fails.
template <class F>
ncclResult_t for_each_part(std::span<const std::int64_t> counts, F f) {
  Together together;
  auto code = together.code();
  std::int64_t first = 0;
  for (std::size_t rank = 0; rank < counts.size() && is_fine(code); first += counts[rank++])
    if (counts[rank] > 0) code = f(first, counts[rank], static_cast<int>(rank));
  return is_fine(code) ? together.end() : code;
}

ncclResult_t reduce_to(ncclComm_t comm, const Buffer& data, int root, ReduceOp op, const cuda::Stream& stream) {
  const auto elements = elements_of(data.dtype);
  return NCCL(ncclReduce)(data.data, data.data, elements.of(data.count), elements.type, op_of(op, data.dtype), root,
                          comm, stream_of(stream));
}

ncclResult_t broadcast_from(ncclComm_t comm, const Buffer& data, int root, const cuda::Stream& stream) {
  return NCCL(ncclBroadcast)(data.data, data.data, static_cast<std::size_t>(data.bytes()), ncclUint8, root, comm,
                             stream_of(stream));
}

Buffer part_of(const Buffer& data, std::int64_t first, std::int64_t count) {
  auto* const at = static_cast<std::byte*>(data.data) + first * static_cast<std::int64_t>(itemsize(data.dtype));
  return {at, count, data.dtype, data.memory};
}

}  // namespace

const device::Library& library() {
  static const device::Library instance("HEATPP_NCCL", {"libnccl.so.2", "libnccl.so"});
  return instance;
}

bool available() { return library().loaded(); }

bool reduces(Dtype dtype, ReduceOp op) {
  const bool sums = op == ReduceOp::sum || op == ReduceOp::mean;
  if (dtype == Dtype::complex64 || dtype == Dtype::complex128) return sums;
  if (dtype >= Dtype::float16) return sums || op == ReduceOp::prod;
  return dtype != Dtype::int16;
}

void Group::allreduce(const Buffer& data, ReduceOp op, const cuda::Stream& stream) {
  const auto elements = elements_of(data.dtype);
  impl_->call("ncclAllReduce", [&](ncclComm_t comm) {
    return NCCL(ncclAllReduce)(data.data, data.data, elements.of(data.count), elements.type, op_of(op, data.dtype),
                               comm, stream_of(stream));
  });
}

void Group::reduce(const Buffer& data, int root, ReduceOp op, const cuda::Stream& stream) {
  impl_->call("ncclReduce", [&](ncclComm_t comm) { return reduce_to(comm, data, root, op, stream); });
}

void Group::broadcast(const Buffer& data, int root, const cuda::Stream& stream) {
  impl_->call("ncclBroadcast", [&](ncclComm_t comm) { return broadcast_from(comm, data, root, stream); });
}

void Group::reduce_scatter(const Buffer& data, Counts counts, ReduceOp op, const cuda::Stream& stream) {
  impl_->call("ncclReduceScatter", [&](ncclComm_t comm) {
    if (!all_equal(counts))
      return for_each_part(counts, [&](std::int64_t first, std::int64_t count, int owner) {
        return reduce_to(comm, part_of(data, first, count), owner, op, stream);
      });
    const auto elements = elements_of(data.dtype);
    const auto mine = part_of(data, impl_->rank * counts[0], counts[0]);
    return NCCL(ncclReduceScatter)(data.data, mine.data, elements.of(mine.count), elements.type, op_of(op, data.dtype),
                                   comm, stream_of(stream));
  });
}

void Group::allgather(const Buffer& data, Counts counts, const cuda::Stream& stream) {
  impl_->call("ncclAllGather", [&](ncclComm_t comm) {
    if (!all_equal(counts))
      return for_each_part(counts, [&](std::int64_t first, std::int64_t count, int owner) {
        return broadcast_from(comm, part_of(data, first, count), owner, stream);
      });
    const auto mine = part_of(data, impl_->rank * counts[0], counts[0]);
    return NCCL(ncclAllGather)(mine.data, data.data, static_cast<std::size_t>(mine.bytes()), ncclUint8, comm,
                               stream_of(stream));
  });
}

}  // namespace heatpp::nccl

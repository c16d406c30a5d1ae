#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/device/cuda.hpp>

/// NCCL, loaded at the first call.
namespace heatpp::nccl {

[[nodiscard]] bool available();
/// Whether NCCL reduces such elements as the library means it. Of 16-bit floats it rounds every sum of two, and what
/// NaN does to a minimum it leaves open.
[[nodiscard]] bool reduces(Dtype dtype, ReduceOp op);

/// A communicator of NCCL's over the ranks of `comm`. Its collectives work in place on memory of the current device,
/// are put into a stream, and must be so in the same order on all ranks. Making one is collective.
class Group {
 public:
  explicit Group(const Communicator& comm);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  void allreduce(const Buffer& data, ReduceOp op, const cuda::Stream& stream);
  void reduce(const Buffer& data, int root, ReduceOp op, const cuda::Stream& stream);
  void broadcast(const Buffer& data, int root, const cuda::Stream& stream);
  /// Parts lie in rank order and have counts[r] elements.
  using Counts = std::span<const std::int64_t>;
  void reduce_scatter(const Buffer& data, Counts counts, ReduceOp op, const cuda::Stream& stream);
  void allgather(const Buffer& data, Counts counts, const cuda::Stream& stream);

  /// Throws CommError, and gives up all that is under way, if another rank or the network has failed.
  void check();
  /// Gives up what is under way. The group is of no use afterwards.
  void abort();

 private:
  void* comm_ = nullptr;
  int rank_, ranks_;
};

}  // namespace heatpp::nccl

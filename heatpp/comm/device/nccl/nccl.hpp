#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/device/cuda/cuda.hpp>

/// NCCL's functions. The library is loaded at the first call.
namespace heatpp::nccl {

[[nodiscard]] bool available();
/// Whether NCCL reduces such elements as the library does. NCCL rounds every sum of two 16-bit floats, and leaves open
/// what NaN does to a minimum.
[[nodiscard]] bool reduces(Dtype dtype, ReduceOp op);

/// A communicator of NCCL over the ranks of `comm`, with the device on this one. Its collectives work in place on
/// memory of the device and enter a stream in the same order on all ranks. None of its functions waits: NCCL takes each
/// call in its own time, and idle() says when it has.
class Group {
 public:
  /// Begins to make the communicator. Collective.
  Group(const Communicator& comm, int device);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Whether NCCL has taken all calls so far. It takes the next call only then, and streams hold the one before only
  /// then. Throws CommError, and gives up what is under way, if NCCL has failed on any rank that could say so; on all
  /// ranks if the group cannot be made.
  [[nodiscard]] bool idle();
  /// Returns the number of calls so far. All ranks count alike.
  [[nodiscard]] std::int64_t calls() const;
  /// Throws as idle() if the first `calls` calls will never end. Failures in later calls do not count.
  void expect_end_of(std::int64_t calls);
  /// Notes that the first `calls` calls have ended.
  void note_end_of(std::int64_t calls);

  void allreduce(const Buffer& data, ReduceOp op, const cuda::Stream& stream);
  void reduce(const Buffer& data, int root, ReduceOp op, const cuda::Stream& stream);
  void broadcast(const Buffer& data, int root, const cuda::Stream& stream);
  /// Parts lie in rank order and have counts[r] elements.
  using Counts = std::span<const std::int64_t>;
  void reduce_scatter(const Buffer& data, Counts counts, ReduceOp op, const cuda::Stream& stream);
  void allgather(const Buffer& data, Counts counts, const cuda::Stream& stream);

  /// Gives up what is under way and tells the other ranks of a failure. The group is unusable afterwards.
  void abort(const std::string& failure);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nccl

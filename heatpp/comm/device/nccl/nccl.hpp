#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/device/cuda/cuda.hpp>

/// NCCL, loaded at the first call.
namespace heatpp::nccl {

[[nodiscard]] bool available();
/// Whether NCCL reduces such elements as the library means it. Of 16-bit floats it rounds every sum of two, and what
/// NaN does to a minimum it leaves open.
[[nodiscard]] bool reduces(Dtype dtype, ReduceOp op);

/// A communicator of NCCL's over the ranks of `comm`, with the device on this one. Its collectives work in place on
/// memory of the device, are put into a stream, and must be so in the same order on all ranks. None of its functions
/// waits: NCCL takes each call in its own time, and idle() says when it has.
class Group {
 public:
  /// Begins to make it. Collective.
  Group(const Communicator& comm, int device);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Whether NCCL has taken all that it was given so far: it takes the next call only then, and streams have the one
  /// before only then. Throws CommError, and gives up what is under way, if NCCL has failed on any rank that could say
  /// so; where the group cannot be made, on all.
  [[nodiscard]] bool idle();
  /// How many calls there were. All ranks count alike.
  [[nodiscard]] std::int64_t calls() const;
  /// Throws as idle() if the first so many calls will never end, as another rank's failure in later ones does not mean.
  void expect_end_of(std::int64_t calls);
  /// Tells that these have ended.
  void note_end_of(std::int64_t calls);

  void allreduce(const Buffer& data, ReduceOp op, const cuda::Stream& stream);
  void reduce(const Buffer& data, int root, ReduceOp op, const cuda::Stream& stream);
  void broadcast(const Buffer& data, int root, const cuda::Stream& stream);
  /// Parts lie in rank order and have counts[r] elements.
  using Counts = std::span<const std::int64_t>;
  void reduce_scatter(const Buffer& data, Counts counts, ReduceOp op, const cuda::Stream& stream);
  void allgather(const Buffer& data, Counts counts, const cuda::Stream& stream);

  /// Gives up what is under way. The group is of no use afterwards. Other ranks are told of the failure, if it is one.
  void abort(const std::string& failure);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nccl

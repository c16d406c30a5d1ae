#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/topology.hpp>

/// Collectives on memory of devices, by the backend for the ranks. Checks and counters are the caller's.
namespace heatpp::device {

using Counts = std::span<const std::int64_t>;

/// By MPI it is done when this returns.
[[nodiscard]] std::unique_ptr<detail::Operation> start_flat_allreduce(const Communicator& comm, const Buffer& data,
                                                                      ReduceOp op);
// Over a communicator, or a topology: where the host's messages carry the data, these then go level by level.
template <class Ranks>
void broadcast(const Ranks& ranks, const Buffer& data, int root);
template <class Ranks>
void reduce_scatter(const Ranks& ranks, const Buffer& data, Counts counts, ReduceOp op);
template <class Ranks>
void allgather(const Ranks& ranks, const ConstBuffer& mine, const Buffer& all, Counts counts);
void reduce(const Topology& topology, const Buffer& data, int root, ReduceOp op);

/// With NCCL in the nodes and messages of the host's or of MPI's between them, in chunks that are at the same time
/// reduced in a node, copied, and on their way (BlueConnect with backends by level); or as in start_flat_allreduce.
[[nodiscard]] std::unique_ptr<detail::Operation> start_allreduce(const Topology& topology,
                                                                 const AllreduceOptions& options, const Buffer& data);

/// Throws ValueError for memory of a device, on all ranks if all have it there.
void expect_host(const char* op, const Memory& memory);

}  // namespace heatpp::device

#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/topology.hpp>

/// Collectives on memory of devices, by the backend of the ranks. The caller checks and counts.
namespace heatpp::device {

using Counts = std::span<const std::int64_t>;

/// With MPI, the all-reduce is done when this returns.
[[nodiscard]] std::unique_ptr<detail::Operation> start_flat_allreduce(const Communicator& comm, const Buffer& data,
                                                                      ReduceOp op);
// If the host's messages carry the data, these go by the levels of the topology.
void broadcast(const Topology& topology, const Buffer& data, int root);
void reduce_scatter(const Topology& topology, const Buffer& data, Counts counts, ReduceOp op);
void allgather(const Topology& topology, const ConstBuffer& mine, const Buffer& all, Counts counts);
void reduce(const Topology& topology, const Buffer& data, int root, ReduceOp op);

/// Reduces with NCCL in the nodes and messages of the host or of MPI between them, in chunks. At a time, some chunks
/// are reduced in a node, some are copied and some travel (BlueConnect by levels). Or does start_flat_allreduce.
[[nodiscard]] std::unique_ptr<detail::Operation> start_allreduce(const Topology& topology,
                                                                 const AllreduceOptions& options, const Buffer& data);

/// Throws ValueError for memory of a device, on all ranks if all pass such memory.
void expect_host(const char* op, const Memory& memory);

}  // namespace heatpp::device

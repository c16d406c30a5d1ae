#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <heatpp/comm/device/backend.hpp>
#include <heatpp/comm/device/resources.hpp>

namespace heatpp::device {

/// How a pipeline cuts and reduces its data.
struct PipelineOptions {
  Backends backends;       ///< nccl or staged in nodes; mpi or staged between them
  std::int64_t chunk = 1;  ///< elements
  /// An operation on a chunk in host memory. It reduces this rank's part over the nodes if that is reduced in the node
  /// already; otherwise it reduces the whole chunk.
  std::function<std::unique_ptr<detail::Operation>(Buffer chunk)> cross = {};
};

/// All-reduces memory of a device in chunks. A chunk is reduced in the node so that each rank has a part of it, copied
/// to the host, reduced across nodes, copied back, and gathered in the node. Other chunks are at other stages.
[[nodiscard]] std::unique_ptr<detail::Operation> pipeline(const Topology& topology, const Buffer& data, ReduceOp op,
                                                          PipelineOptions options);

}  // namespace heatpp::device

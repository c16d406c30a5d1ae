#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <heatpp/comm/device/backend.hpp>
#include <heatpp/comm/device/resources.hpp>

namespace heatpp::device {

/// How a pipeline cuts and reduces its data.
struct PipelineOptions {
  Plan plan;               ///< nccl or staged in nodes; mpi or staged across
  std::int64_t chunk = 1;  ///< elements
  /// An operation on a chunk in host memory of which this rank's part is reduced in the node already, or that is not
  /// reduced at all: reduces that part over the nodes, or all of it.
  std::function<std::unique_ptr<detail::Operation>(Buffer chunk)> cross = {};
};

/// An all-reduce of memory of a device in chunks. A chunk is reduced in the node so that each rank has a part of it,
/// copied to the host, reduced across nodes, copied back, and gathered in the node; other chunks are at other stages.
[[nodiscard]] std::unique_ptr<detail::Operation> pipeline(const Topology& topology, const Buffer& data, ReduceOp op,
                                                          PipelineOptions options);

}  // namespace heatpp::device

#pragma once

#include <heatpp/comm/detail/machine/channels.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/cache.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>

namespace heatpp::detail {

/// Where parts of data move between ranks, and for which call.
struct PartsJob {
  const Communicator& comm;
  const Tree& machine;
  ScheduleCache& schedules;
  const char* call;
  ScheduleMemory memory = {};
};

/// Reduces each part of `data` to its owner. 16-bit floats are accumulated in float32.
[[nodiscard]] std::unique_ptr<Operation> reduce_parts(const PartsJob& job, const Buffer& data,
                                                      std::span<const Owned> parts, ReduceOp op);
/// Reduces all data to the root.
[[nodiscard]] std::unique_ptr<Operation> reduce_to_root(const PartsJob& job, const Buffer& data, int root, ReduceOp op);
/// Sends each part of `data` from its owner to every rank.
[[nodiscard]] std::unique_ptr<Operation> spread_parts(const PartsJob& job, const Buffer& data,
                                                      std::span<const Owned> parts);

}  // namespace heatpp::detail

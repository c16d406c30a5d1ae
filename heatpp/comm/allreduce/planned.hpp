#pragma once

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/state.hpp>

namespace heatpp::comm {

/// An all-reduce with all choices made.
struct Plan {
  Choice choice;
  std::int64_t chunk_bytes, message_bytes;
  /// The memory at the time of the call: a call that does not wait may begin when another has found memory.
  detail::ScheduleMemory memory;
  const char* call = "allreduce";
};

/// Throws TypeError or ValueError if the options do not fit the data or the machine.
void check_options(const Topology& topology, const AllreduceOptions& options, const Buffer& data);
[[nodiscard]] Plan plan_of(const Topology& topology, const AllreduceOptions& options, const Buffer& data);
/// Describes the call as text for comparison with the other ranks, if calls are compared.
[[nodiscard]] std::string text_of(const Topology& topology, const AllreduceOptions& options, const Plan& plan);
[[nodiscard]] std::unique_ptr<detail::Operation> start_planned(const Topology& topology,
                                                               const AllreduceOptions& options, const Buffer& data,
                                                               const Plan& plan);

}  // namespace heatpp::comm

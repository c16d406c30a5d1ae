#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/device/resources.hpp>

namespace heatpp::device {

/// A collective of NCCL: its group, and the function that puts it into a stream.
struct NcclCall {
  nccl::Group* group;
  std::function<void(const cuda::Stream&)> put;
};

/// Runs collectives of NCCL one after another, after the present work in the streams of `after`, all on one device.
/// They enter NCCL's stream after those of operations begun before.
[[nodiscard]] std::unique_ptr<detail::Operation> in_stream(std::span<const Memory> after, std::vector<NcclCall> calls);

}  // namespace heatpp::device

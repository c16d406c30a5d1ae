#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/device/resources.hpp>

namespace heatpp::device {

/// A collective of NCCL's: its group, and what puts it into a stream.
struct NcclCall {
  nccl::Group* group;
  std::function<void(const cuda::Stream&)> put;
};

/// Collectives of NCCL's one after another, which begin after what is in the streams of `after` now, all on one device.
/// They are put into NCCL's stream when those of operations begun before are.
[[nodiscard]] std::unique_ptr<detail::Operation> in_stream(std::span<const Memory> after, std::vector<NcclCall> calls);

}  // namespace heatpp::device

#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/device/side.hpp>

namespace heatpp::device {

/// NCCL's collectives that `put` puts into the stream it is given. They are put in when those begun before are.
[[nodiscard]] std::unique_ptr<detail::Operation> in_stream(const Memory& memory, std::vector<nccl::Group*> groups,
                                                           std::function<void(const cuda::Stream&)> put);

/// Waits for what was in the memory's stream.
void settle(const Memory& memory);
/// Copies within the device and waits.
void copy(const Memory& memory, void* to, const void* from, std::int64_t bytes);
/// Copies to the host, lets `make` start an operation there, and copies back when it has ended.
[[nodiscard]] std::unique_ptr<detail::Operation> through_host(const Buffer& data, const detail::StartAllreduce& make);
/// Calls `work` with a copy in host memory, and copies back.
void on_host(const Buffer& data, const std::function<void(Buffer host)>& work);

}  // namespace heatpp::device

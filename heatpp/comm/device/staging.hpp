#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/device/cuda/cuda.hpp>

namespace heatpp::device {

/// Waits for what is in the memory's stream.
void settle(const Memory& memory);
/// Copies what is in the stream of `from` by now to memory of the same device, after what is in that memory's stream,
/// and waits.
void copy(const ConstBuffer& from, void* to, const Memory& memory);
/// Ends with what is in the memory's stream.
[[nodiscard]] std::unique_ptr<detail::Operation> settled(const Memory& memory);

/// Copies to the host, lets `make` start an operation there, and copies back when it has ended.
[[nodiscard]] std::unique_ptr<detail::Operation> through_host(const Buffer& data, const detail::StartAllreduce& make);
/// Calls `work` with a copy in host memory, and copies back.
void on_host(const Buffer& data, const std::function<void(Buffer host)>& work);

}  // namespace heatpp::device

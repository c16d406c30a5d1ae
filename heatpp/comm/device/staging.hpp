#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/device/cuda/cuda.hpp>

namespace heatpp::device {

/// Waits for the work in the memory's stream.
void settle(const Memory& memory);
/// Copies from the memory of `from` to memory of the same device and waits. The copy follows the present work in both
/// streams.
void copy(const ConstBuffer& from, void* to, const Memory& memory);
/// Makes an operation that ends with the present work in the memory's stream.
[[nodiscard]] std::unique_ptr<detail::Operation> settled(const Memory& memory);

/// Copies to the host, lets `make` start an operation there, and copies back when it has ended.
[[nodiscard]] std::unique_ptr<detail::Operation> through_host(const Buffer& data, const detail::StartAllreduce& make);
/// Calls `work` with a copy in host memory, and copies back.
void on_host(const Buffer& data, const std::function<void(Buffer host)>& work);

}  // namespace heatpp::device

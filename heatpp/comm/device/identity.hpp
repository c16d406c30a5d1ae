#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::device {

/// Returns the number of a device among all machines: a hash of its host's name, and its bus address. -1 is none.
[[nodiscard]] std::int64_t device_id(int device);
[[nodiscard]] std::string device_text(std::int64_t id);
/// Returns the ranks' current devices if programs use CUDA by now; empty if none does. Collective.
[[nodiscard]] std::vector<std::int64_t> find_devices(const Communicator& comm);
/// Whether each of these ranks has a device of its own that NCCL can use.
[[nodiscard]] bool apart(std::span<const std::int64_t> devices);

}  // namespace heatpp::device

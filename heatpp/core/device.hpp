#pragma once

#include <string>

namespace heatpp {

/// Where the elements of an array are stored.
struct Device {
  enum class Type { cpu, cuda };
  Type type = Type::cpu;
  int index = 0;  ///< of the GPU on this rank's node; 0 for the CPU

  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr Device cpu{};
/// The GPU with this number on the rank's node.
[[nodiscard]] constexpr Device gpu(int index = 0) { return {Device::Type::cuda, index}; }
/// How many GPUs the rank's node has: 0 without a driver, and where LibTorch was built without CUDA or has been used
/// before its CUDA libraries were loaded, as this does when it is first called. Local.
[[nodiscard]] int gpu_count();

/// "cpu:0".
[[nodiscard]] inline std::string to_string(const Device& device) {
  return (device.type == Device::Type::cpu ? "cpu:" : "cuda:") + std::to_string(device.index);
}

}  // namespace heatpp

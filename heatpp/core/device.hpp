#pragma once

#include <string>

namespace heatpp {

/// Where the elements of an array are stored.
struct Device {
  enum class Type { cpu, cuda };
  Type type = Type::cpu;
  int index = 0;  ///< number of the GPU on this rank's node; 0 for the CPU

  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr Device cpu{};
/// Returns the GPU with this number on the rank's node.
[[nodiscard]] constexpr Device gpu(int index = 0) { return {Device::Type::cuda, index}; }
/// Returns how many GPUs the rank's node has. Returns 0 without a driver, if LibTorch was built without CUDA, and if it
/// was used before its CUDA libraries were loaded; the first call of this function loads them. Local.
[[nodiscard]] int gpu_count();

/// Returns a text like "cpu:0".
[[nodiscard]] inline std::string to_string(const Device& device) {
  return (device.type == Device::Type::cpu ? "cpu:" : "cuda:") + std::to_string(device.index);
}

}  // namespace heatpp

#pragma once

#include <cuda_runtime_api.h>

#include <heatpp/comm/device/library.hpp>
#include <heatpp/comm/buffer.hpp>

#include <filesystem>
#include <utility>
#include <vector>

inline bool real_devices() { return std::filesystem::exists("/dev/nvidiactl"); }

/// CUDA, or the stand-in that is told to the library in its place.
inline const heatpp::device::Library& device_library() {
  static const bool told = real_devices() || (::setenv("HEATPP_CUDART", HEATPP_STANDIN, 1) == 0 &&
                                              ::setenv("HEATPP_NCCL", HEATPP_STANDIN, 1) == 0);
  static const heatpp::device::Library instance("HEATPP_CUDART", {told ? "libcudart.so" : ""});
  return instance;
}

inline void fail_nccl(bool fail) { *device_library().function<int*>("standin_failure") = fail ? 1 : 0; }

/// Values in memory of the device, on their way there when it is made.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::vector<T> values) : values_(std::move(values)) {
    HEATPP_FROM(device_library(), cudaMalloc)(&data_, bytes() + 1);
    HEATPP_FROM(device_library(), cudaMemcpyAsync)(data_, values_.data(), bytes(), cudaMemcpyDefault, nullptr);
  }
  ~DeviceArray() {
    if (!data_) return;
    HEATPP_FROM(device_library(), cudaStreamSynchronize)(nullptr);
    HEATPP_FROM(device_library(), cudaFree)(data_);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : values_(std::move(other.values_)), data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&&) = delete;

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  [[nodiscard]] static heatpp::Memory memory() { return {.device = 0, .stream = nullptr}; }
  operator heatpp::Buffer() const {  // NOLINT: conversion intended
    return {data_, std::ssize(values_), heatpp::dtype_of<T>(), memory()};
  }
  operator heatpp::ConstBuffer() const { return heatpp::Buffer(*this); }  // NOLINT: the same

  [[nodiscard]] std::vector<T> to_host() const {
    auto copy = values_;
    HEATPP_FROM(device_library(), cudaMemcpyAsync)(copy.data(), data_, bytes(), cudaMemcpyDefault, nullptr);
    HEATPP_FROM(device_library(), cudaStreamSynchronize)(nullptr);
    return copy;
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return values_.size() * sizeof(T); }

  std::vector<T> values_;
  void* data_ = nullptr;
};

#pragma once

#include "../catch.hpp"
#include <cuda_runtime_api.h>

#include <heatpp/comm/buffer.hpp>
#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/device/cuda/cuda.hpp>
#include <heatpp/comm/device/cuda/library.hpp>

#include <filesystem>
#include <utility>
#include <vector>

#include "standin/control.hpp"

inline bool real_devices() { return std::filesystem::exists("/dev/nvidiactl"); }

/// Returns CUDA, or the stand-in that the library loads instead.
inline const heatpp::device::Library& device_library() {
  static const bool told = real_devices() || (::setenv("HEATPP_CUDART", HEATPP_STANDIN, 1) == 0 &&
                                              ::setenv("HEATPP_CUDA", HEATPP_STANDIN, 1) == 0 &&
                                              ::setenv("HEATPP_NCCL", HEATPP_STANDIN, 1) == 0);
  static const heatpp::device::Library instance("HEATPP_CUDART", {told ? "libcudart.so" : ""});
  return instance;
}
#define TEST_CUDA(name) HEATPP_FROM(device_library(), name)

/// Returns the stand-in's second device, so that accidental use of the first one shows.
inline int test_device() {
  if (!real_devices()) return 1;
  int count = 1;
  TEST_CUDA(cudaGetDeviceCount)(&count);
  return heatpp::world().rank() % count;
}

inline StandinFailures& failures() { return *device_library().function<StandinFailures*>("standin_failures"); }

/// Checks the stand-in at the end of a test: no forbidden use of CUDA and NCCL, and only the tests' device has a
/// context.
struct WatchedDevices {
  WatchedDevices() { device_library(); }
  WatchedDevices(const WatchedDevices&) = delete;
  WatchedDevices& operator=(const WatchedDevices&) = delete;
  ~WatchedDevices() {
    if (real_devices()) return;
    CHECK(std::string(TEST_CUDA(standin_misuse)()).empty());
    CHECK(TEST_CUDA(standin_has_context)(0) == 0);
    CHECK(TEST_CUDA(standin_current)() == -1);
    CHECK(TEST_CUDA(standin_open_groups)() == 0);
  }
};

/// A stream of the test's device.
class TestStream {
 public:
  TestStream() {
    const heatpp::cuda::OnDevice guard(test_device());
    TEST_CUDA(cudaStreamCreateWithFlags)(&handle_, cudaStreamNonBlocking);
  }
  ~TestStream() {
    synchronize();
    const heatpp::cuda::OnDevice guard(test_device());
    TEST_CUDA(cudaStreamDestroy)(handle_);
  }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;

  [[nodiscard]] cudaStream_t handle() const { return handle_; }
  [[nodiscard]] heatpp::Memory memory() const { return {.device = test_device(), .stream = handle_}; }
  void copy(void* to, const void* from, std::size_t bytes) const {
    const heatpp::cuda::OnDevice guard(test_device());
    TEST_CUDA(cudaMemcpyAsync)(to, from, bytes, cudaMemcpyDefault, handle_);
  }
  /// Puts a kernel of the stand-in into the stream.
  void put(int (*kernel)(void*), void* argument) const {
    const heatpp::cuda::OnDevice guard(test_device());
    TEST_CUDA(standin_put)(handle_, kernel, argument);
  }
  void synchronize() const {
    const heatpp::cuda::OnDevice guard(test_device());
    TEST_CUDA(cudaStreamSynchronize)(handle_);
  }

 private:
  cudaStream_t handle_ = nullptr;
};

/// Values in memory of the device. The copy is under way after construction.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::vector<T> values) : values_(std::move(values)) {
    const heatpp::cuda::OnDevice guard(test_device());
    device_library().function<cudaError_t (*)(void**, std::size_t)>("cudaMalloc")(&data_, bytes() + 1);
    TEST_CUDA(cudaMemcpyAsync)(data_, values_.data(), bytes(), cudaMemcpyDefault, nullptr);
  }
  ~DeviceArray() {
    if (!data_) return;
    const heatpp::cuda::OnDevice guard(test_device());
    TEST_CUDA(cudaStreamSynchronize)(nullptr);
    TEST_CUDA(cudaFree)(data_);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : values_(std::move(other.values_)), data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&&) = delete;

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  [[nodiscard]] static heatpp::Memory memory() { return {.device = test_device(), .stream = nullptr}; }
  [[nodiscard]] heatpp::Buffer in(const TestStream& stream) const {
    return {data_, std::ssize(values_), heatpp::dtype_of<T>(), stream.memory()};
  }
  operator heatpp::Buffer() const {  // NOLINT: conversion intended
    return {data_, std::ssize(values_), heatpp::dtype_of<T>(), memory()};
  }
  operator heatpp::ConstBuffer() const { return heatpp::Buffer(*this); }  // NOLINT: the same

  [[nodiscard]] std::vector<T> to_host() const {
    auto copy = values_;
    const heatpp::cuda::OnDevice guard(test_device());
    TEST_CUDA(cudaMemcpyAsync)(copy.data(), data_, bytes(), cudaMemcpyDefault, nullptr);
    TEST_CUDA(cudaStreamSynchronize)(nullptr);
    return copy;
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return values_.size() * sizeof(T); }

  std::vector<T> values_;
  void* data_ = nullptr;
};

/// Sets a variable of the environment while the object lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// Returns different values, times a factor; sums of these over ranks are exact.
inline std::vector<float> ramp(std::size_t count, int factor) {
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 1000 + 1) * static_cast<float>(factor);
  return data;
}
inline int sum_to(int p) { return p * (p + 1) / 2; }

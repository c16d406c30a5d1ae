#pragma once

#include <cstdint>
#include <heatpp/comm/detail/machine/scratch.hpp>

/// The part of CUDA's runtime that the library uses. It is loaded at the first call. Failures throw CommError. Without
/// CUDA's headers at build time all except available() and in_use() throw NotCompiled.
namespace heatpp::cuda {

/// Whether the runtime can be loaded and has a device.
[[nodiscard]] bool available();
/// Whether the program has used a device by now. Asking CUDA would cost programs without devices some 0.1 s.
[[nodiscard]] bool in_use();

/// Returns the device of the calling thread, or -1. The runtime would say 0 for a thread that has none yet.
[[nodiscard]] int current_device();
/// Returns the device's place on the machine's bus, by which processes tell devices apart: domain, bus, device and
/// function in 16, 8, 5 and 3 bits.
[[nodiscard]] std::int64_t bus_address(int device);

/// Makes a device the thread's current one while the object lives. A thread that had no device has none afterwards,
/// because a return to device 0 would make a context there, which takes some 0.5 GB.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

/// A moment in a stream of the device that is current when it is made.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  /// Records the end of the present work in `stream`, a cudaStream_t. The device has to be current.
  void record(void* stream);
  [[nodiscard]] bool ended() const;
  /// Lets later work in a stream of any device wait for the moment.
  void hold(void* stream) const;

 private:
  int device_ = 0;
  void* handle_ = nullptr;
};

/// A queue of work of the current device that runs in order, beside other streams.
class Stream {
 public:
  Stream();
  [[nodiscard]] void* handle() const { return handle_; }
  /// Later work waits for the moment, or for the present work in the other stream.
  void wait_for(const Event& moment) const { moment.hold(handle_); }
  void wait_for(const Stream& other) const;
  /// Copies between any two memories.
  void copy(void* to, const void* from, std::int64_t bytes) const;

 private:
  void* handle_ = nullptr;
};

/// A device's streams. Collectives of NCCL use one, because those of several communicators could block each other (NCCL
/// issue 195). Copies in each direction use another. They last as long as the program.
struct Streams {
  Stream nccl, to_host, to_device;
  static const Streams& of(int device);
};

/// Returns host memory that devices copy from and to while they do other work.
[[nodiscard]] detail::Pool& pinned();

}  // namespace heatpp::cuda

#pragma once

#include <cstdint>
#include <heatpp/comm/detail/machine/scratch.hpp>

/// What the library uses of CUDA's runtime, which it loads at the first call. Failures throw CommError; without CUDA's
/// headers at build time all but available() and in_use() throw NotCompiled.
namespace heatpp::cuda {

/// Whether the runtime can be loaded and has a device.
[[nodiscard]] bool available();
/// Whether the program has used a device by now. Asking would cost programs that never do some 0.1 s.
[[nodiscard]] bool in_use();

/// That of the calling thread, or -1: the runtime would say 0 for a thread that has none yet.
[[nodiscard]] int current_device();
/// The device's place on the machine's bus, by which processes tell devices apart: domain, bus, device and function in
/// 16, 8, 5 and 3 bits.
[[nodiscard]] std::int64_t bus_address(int device);

/// Makes a device the thread's current one while it lives. A thread without a device has none afterwards: what asks
/// the runtime to go back to device 0 makes a context there, which takes some 0.5 GB of it.
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
  /// The end of what is in `stream`, a cudaStream_t, now. The device has to be current.
  void record(void* stream);
  [[nodiscard]] bool ended() const;
  /// Lets what is put into a stream of any device's from now on wait for the moment.
  void hold(void* stream) const;

 private:
  int device_ = 0;
  void* handle_ = nullptr;
};

/// Work of the current device that is done in order, beside that of other streams.
class Stream {
 public:
  Stream();
  [[nodiscard]] void* handle() const { return handle_; }
  /// What is put in from now on waits for the moment, or for what is in the other stream now.
  void wait_for(const Event& moment) const { moment.hold(handle_); }
  void wait_for(const Stream& other) const;
  /// Copies from and to any memory.
  void copy(void* to, const void* from, std::int64_t bytes) const;

 private:
  void* handle_ = nullptr;
};

/// A device's streams: collectives of NCCL go in one, since those of several communicators could block each other
/// (NCCL issue 195), and copies in each direction in another. They last as long as the program.
struct Streams {
  Stream nccl, to_host, to_device;
  static const Streams& of(int device);
};

/// Host memory that devices copy from and to while they do other work.
[[nodiscard]] detail::Pool& pinned();

}  // namespace heatpp::cuda

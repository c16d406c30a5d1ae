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

[[nodiscard]] int current_device();
/// The device's place on the machine's bus, by which processes tell devices apart: domain, bus, device and function in
/// 16, 8, 5 and 3 bits.
[[nodiscard]] std::int64_t bus_address(int device);

/// Makes a device the thread's current one while it lives.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_;
};

/// A moment in a stream of the current device's.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  /// The end of what is in `stream`, a cudaStream_t, now.
  void record(void* stream);
  [[nodiscard]] bool ended() const;
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

/// Work of the current device that is done in order, beside that of other streams.
class Stream {
 public:
  Stream();
  [[nodiscard]] void* handle() const { return handle_; }
  /// What is put in from now on waits for the moment, or for what is in the other stream now.
  void wait_for(const Event& moment) const;
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
  /// Of the current device, which has that number.
  static const Streams& of(int device);
};

/// Host memory that devices copy from and to while they do other work.
[[nodiscard]] detail::Pool& pinned();

}  // namespace heatpp::cuda

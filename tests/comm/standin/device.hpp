#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

/// Devices made of host memory, as strict as CUDA may be: work in a stream is done, in order, when it or other work
/// that waits for it is asked for, or long after. Memory of a device faults when the host touches it.
namespace standin {

constexpr int devices = 2;

/// Calls come from several threads.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

void misuse(std::string text);

/// Returns the device whose context is current. If there is none, makes that of device 0 current.
int use_device();
/// Does cudaSetDevice: makes the context if there is none.
void set_device(int device);
/// Returns the current device; device 0 if no context is current.
int get_device();

/// The end of a stream's work at some time.
struct Moment {
  cudaStream_t stream;
  bool passed = false;
};
struct Task {
  std::function<bool()> step;               ///< does what it can and returns whether it has ended
  std::shared_ptr<const Moment> wait = {};  ///< instead: waits for this
};
void put(cudaStream_t stream, Task task);
/// Does what can be done in all streams.
void drain();
/// Returns the stream's device; -1 if there is no such stream. The default stream is on the current device.
int device_of(cudaStream_t stream);

/// Returns the address at which the device itself sees its memory; other addresses stay.
void* seen(const void* address);
/// Whether this many bytes lie in one block of a device's memory.
bool in_device(const void* address, std::size_t bytes);

}  // namespace standin

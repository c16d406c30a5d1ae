#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

/// Devices made of host memory, as strict as CUDA is free to be: what is put into a stream is done, in order, when
/// somebody asks for it or for what waits for it, or long after. Memory of a device faults when the host touches it.
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

/// The device whose context is current. Where none is, that of device 0 is made and becomes it.
int use_device();
/// cudaSetDevice: makes the context where there is none.
void set_device(int device);
/// Device 0 where no context is current.
int get_device();

/// The end of what was in a stream at some time.
struct Moment {
  cudaStream_t stream;
  bool passed = false;
};
struct Task {
  std::function<bool()> step;               ///< does what it can and says whether it has ended
  std::shared_ptr<const Moment> wait = {};  ///< instead: for this
};
void put(cudaStream_t stream, Task task);
/// Does what can be done in all streams.
void drain();
/// The stream's device; -1 where there is no such stream. The default stream is that of the current device.
int device_of(cudaStream_t stream);

/// Where the device itself sees its memory; other addresses stay as they are.
void* seen(const void* address);
/// Whether so many bytes lie in one block of a device's memory.
bool in_device(const void* address, std::size_t bytes);

}  // namespace standin

#pragma once

#include <cuda_runtime_api.h>

#include <functional>

/// A device made of host memory. What is put into its streams is done, in their order, when somebody asks an event or
/// waits, and memory of the device faults when the host touches it.
namespace standin {

/// Does what it can and says whether it has ended.
using Task = std::function<bool()>;
void put(cudaStream_t stream, Task task);

/// Where the device itself sees its memory; other addresses stay as they are.
void* seen(const void* address);

}  // namespace standin

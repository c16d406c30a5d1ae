#include "device.hpp"

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>

struct CUstream_st {
  std::deque<standin::Task> tasks;
  bool advance() {
    while (!tasks.empty() && tasks.front()()) tasks.pop_front();
    return tasks.empty();
  }
};

namespace {

struct Moment {
  int recorded = 0, passed = 0;
};

std::list<CUstream_st>& streams() {
  static std::list<CUstream_st> all(1);  // the default one
  return all;
}
CUstream_st& stream_of(cudaStream_t stream) { return stream ? *stream : streams().front(); }
std::shared_ptr<Moment>& moment_of(cudaEvent_t event) { return *reinterpret_cast<std::shared_ptr<Moment>*>(event); }

void advance_all() {
  for (auto& stream : streams()) stream.advance();
}

/// Each block is mapped twice: for the host, which may not touch it, and for the device.
struct Block {
  std::size_t bytes;
  std::byte* inside;
};
std::map<std::byte*, Block>& blocks() {
  static std::map<std::byte*, Block> all;
  return all;
}

}  // namespace

void standin::put(cudaStream_t stream, Task task) { stream_of(stream).tasks.push_back(std::move(task)); }

void* standin::seen(const void* address) {
  auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
  auto next = blocks().upper_bound(at);
  if (next == blocks().begin()) return at;
  const auto& [first, block] = *std::prev(next);
  return at < first + block.bytes ? block.inside + (at - first) : at;
}

extern "C" {

const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in"; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

/// Every rank has a device of its own, or as many have them as STANDIN_DEVICES says.
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const devices = std::getenv("STANDIN_DEVICES");
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", devices ? rank % std::atoi(devices) : rank);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const int file = ::memfd_create("device", 0);
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) return cudaErrorMemoryAllocation;
  const int open = std::getenv("STANDIN_READABLE") ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* const outside = ::mmap(nullptr, bytes, open, MAP_SHARED, file, 0);
  void* const inside = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (outside == MAP_FAILED || inside == MAP_FAILED) return cudaErrorMemoryAllocation;
  blocks()[static_cast<std::byte*>(outside)] = {bytes, static_cast<std::byte*>(inside)};
  *memory = outside;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  const auto found = blocks().find(static_cast<std::byte*>(memory));
  ::munmap(memory, found->second.bytes);
  ::munmap(found->second.inside, found->second.bytes);
  blocks().erase(found);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  standin::put(stream, [=] {
    if (bytes > 0) std::memcpy(standin::seen(to), standin::seen(from), bytes);
    return true;
  });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = &streams().emplace_back();
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  while (!stream_of(stream).tasks.empty()) advance_all();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  standin::put(stream,
               [moment = moment_of(event), until = moment_of(event)->recorded] { return moment->passed >= until; });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new std::shared_ptr<Moment>(std::make_shared<Moment>()));
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete &moment_of(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  standin::put(stream, [moment = moment_of(event), number = ++moment_of(event)->recorded] {
    moment->passed = number;
    return true;
  });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  advance_all();
  const auto& moment = *moment_of(event);
  return moment.passed == moment.recorded ? cudaSuccess : cudaErrorNotReady;
}
}

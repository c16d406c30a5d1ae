#include "device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace {

/// Each block is mapped twice: for the host, which must not touch it, and for the device.
struct Block {
  std::size_t bytes;
  std::byte* inside;
};
std::map<std::byte*, Block>& blocks() {
  static std::map<std::byte*, Block> all;
  return all;
}

const std::pair<std::byte* const, Block>* block_at(const void* address) {
  auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
  auto next = blocks().upper_bound(at);
  if (next == blocks().begin()) return nullptr;
  const auto& found = *std::prev(next);
  return at < found.first + found.second.bytes ? &found : nullptr;
}

bool fits(const void* address, std::size_t bytes) {
  if (!block_at(address) || standin::in_device(address, bytes)) return true;
  standin::misuse("a copy beyond a block of a device's memory");
  return false;
}

}  // namespace

void* standin::seen(const void* address) {
  const auto* const block = block_at(address);
  if (!block) return const_cast<void*>(address);
  return block->second.inside + (static_cast<const std::byte*>(address) - block->first);
}

bool standin::in_device(const void* address, std::size_t bytes) {
  const auto* const block = block_at(address);
  return block && static_cast<const std::byte*>(address) + bytes <= block->first + block->second.bytes;
}

extern "C" {

/// Returns the address for host code that computes instead of the device.
void* standin_seen(const void* address) {
  const standin::Lock lock;
  return standin::seen(address);
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const standin::Lock lock;
  standin::use_device();
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
  const standin::Lock lock;
  standin::use_device();
  standin::drain();  // CUDA, too, waits for the device here
  const auto found = blocks().find(static_cast<std::byte*>(memory));
  if (found == blocks().end()) return cudaErrorInvalidValue;
  ::munmap(memory, found->second.bytes);
  ::munmap(found->second.inside, found->second.bytes);
  blocks().erase(found);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  const standin::Lock lock;
  standin::use_device();
  *memory = std::malloc(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void* memory) {
  const standin::Lock lock;
  standin::use_device();
  std::free(memory);
  return cudaSuccess;
}

/// During the copy the target holds garbage.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  const standin::Lock lock;
  standin::use_device();
  if (!fits(to, bytes) || !fits(from, bytes)) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  standin::put(stream, {[=, begun = false]() mutable {
                 if (std::exchange(begun, true)) std::memcpy(standin::seen(to), standin::seen(from), bytes);
                 else return std::memset(standin::seen(to), 0xa5, bytes) == nullptr;
                 return true;
               }});
  return cudaSuccess;
}
}

#include "memory.hpp"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

std::atomic<std::int64_t> now{0}, most{0};

void add(std::int64_t bytes) {
  const auto sum = now.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  auto before = most.load(std::memory_order_relaxed);
  while (sum > before && !most.compare_exchange_weak(before, sum, std::memory_order_relaxed)) {
  }
}
std::int64_t size_of(void* block) { return block ? static_cast<std::int64_t>(malloc_usable_size(block)) : 0; }
void* counted(void* block) {
  add(size_of(block));
  return block;
}

}  // namespace

std::int64_t memory::held() { return now; }
std::int64_t memory::peak() { return most; }
void memory::forget_peak() { most = now.load(); }

// These replace glibc's functions, as its manual allows, so that all libraries of the process are counted.
extern "C" {
void* malloc(std::size_t bytes) { return counted(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) { return counted(__libc_calloc(count, bytes)); }
void* memalign(std::size_t alignment, std::size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = counted(__libc_memalign(alignment, bytes));
  return *block ? 0 : ENOMEM;
}
void* realloc(void* block, std::size_t bytes) {
  add(-size_of(block));
  auto* const made = __libc_realloc(block, bytes);
  add(size_of(made ? made : bytes ? block : nullptr));
  return made;
}
void free(void* block) {
  add(-size_of(block));
  __libc_free(block);
}
}

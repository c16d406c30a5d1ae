// Counts the allocations of the program that links this.
#include "counted_memory.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

std::atomic<std::int64_t> allocations{0}, allocated{0}, held{0};

namespace {

constexpr std::size_t header = alignof(std::max_align_t);

/// Returns null if there is no memory.
void* counted(std::size_t bytes) noexcept {
  auto* const memory = static_cast<std::byte*>(std::malloc(bytes + header));
  if (!memory) return nullptr;
  *reinterpret_cast<std::size_t*>(memory) = bytes;
  ++allocations;
  allocated += static_cast<std::int64_t>(bytes);
  held += static_cast<std::int64_t>(bytes);
  return memory + header;
}
void* counted_or_throw(std::size_t bytes) {
  if (auto* const memory = counted(bytes)) return memory;
  throw std::bad_alloc();
}
void uncounted(void* memory) noexcept {
  if (!memory) return;
  auto* const begin = static_cast<std::byte*>(memory) - header;
  held -= static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(begin));
  std::free(begin);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return counted_or_throw(bytes); }
// std::stable_sort takes this one; the sanitizers have their own.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }

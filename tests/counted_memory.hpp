#pragma once

#include <atomic>
#include <cstdint>

/// Allocations, their bytes, and the bytes that are held now, of a program that links counted_memory.cpp.
extern std::atomic<std::int64_t> allocations, allocated, held;

/// What a piece of work took: allocations, their bytes, and the bytes that it still holds.
struct Cost {
  std::int64_t allocations, bytes, kept;
};
template <class F>
Cost cost_of(F work) {
  const Cost before{allocations, allocated, held};
  const auto kept = work();
  return {allocations - before.allocations, allocated - before.bytes, held - before.kept};
}

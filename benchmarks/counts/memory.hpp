#pragma once

#include <cstdint>

/// Counts the memory of the process. glibc only.
namespace memory {

/// Returns the bytes that are allocated now.
[[nodiscard]] std::int64_t held();
/// Returns the most bytes that were allocated at once since forget_peak().
[[nodiscard]] std::int64_t peak();
void forget_peak();

}  // namespace memory

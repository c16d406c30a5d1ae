#pragma once

#include <cstdint>
#include <optional>

namespace heatpp {

/// A range of indices like Python's start:stop:step. An open end is nullopt, a negative end counts from the end.
struct Slice {
  std::optional<std::int64_t> start = std::nullopt;
  std::optional<std::int64_t> stop = std::nullopt;
  std::int64_t step = 1;
};

[[nodiscard]] constexpr Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                                    std::int64_t step = 1) {
  return {start, stop, step};
}

/// Returns the indices before `stop`.
[[nodiscard]] constexpr Slice slice(std::optional<std::int64_t> stop) { return {std::nullopt, stop, 1}; }

/// A slice of an axis of known extent: `count` indices start, start + step, ..., with a step that is at most the
/// extent.
struct ResolvedSlice {
  std::int64_t start = 0, count = 0, step = 1;
};
/// Throws ValueError naming `op` for step 0.
[[nodiscard]] ResolvedSlice resolve(const Slice& slice, std::int64_t extent, const char* op);
/// Returns the slice without open and negative ends, as HeAT does.
[[nodiscard]] inline ResolvedSlice sanitize_slice(const Slice& slice, std::int64_t extent) {
  return resolve(slice, extent, "sanitize_slice");
}

}  // namespace heatpp

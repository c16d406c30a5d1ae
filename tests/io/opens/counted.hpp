#pragma once

#include <cstdint>
#include <string>

/// Counts how often this process opens files whose path begins with `folder`, by the C library's functions, until the
/// end of its scope. The functions of `counted.cpp` stand before those of the C library for all libraries.
class CountedOpens {
 public:
  explicit CountedOpens(std::string folder);
  ~CountedOpens();
  CountedOpens(const CountedOpens&) = delete;
  CountedOpens& operator=(const CountedOpens&) = delete;
  [[nodiscard]] std::int64_t count() const;
};

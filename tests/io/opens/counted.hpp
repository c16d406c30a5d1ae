#pragma once

#include <cstdint>
#include <string>

/// Counts how often this process opens files whose path begins with `folder`, until the end of its scope. It counts
/// calls of the C library's functions. The functions of `counted.cpp` replace these for all libraries.
class CountedOpens {
 public:
  explicit CountedOpens(std::string folder);
  ~CountedOpens();
  CountedOpens(const CountedOpens&) = delete;
  CountedOpens& operator=(const CountedOpens&) = delete;
  [[nodiscard]] std::int64_t count() const;
};

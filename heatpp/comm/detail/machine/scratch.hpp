#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace heatpp::detail {

/// A pool of free memory blocks of one kind.
class Pool {
 public:
  using Allocate = void* (*)(std::size_t bytes);  ///< nullptr if there is no memory
  using Free = void (*)(void*);
  /// Keeps at most `keep` blocks of each size.
  Pool(Allocate allocate, Free free, std::size_t keep = 32) : allocate_(allocate), free_(free), keep_(keep) {}
  ~Pool();
  [[nodiscard]] std::byte* take(int log2);
  void give(std::byte* block, int log2);

 private:
  Allocate allocate_;
  Free free_;
  std::size_t keep_;
  std::mutex mutex_;
  std::array<std::vector<std::byte*>, 64> kept_;  // by the logarithm of their size
};

/// Returns the pool of host memory in pages of its own; in pages.cpp.
[[nodiscard]] Pool& pages();

/// Memory for operations under way. The pool keeps it afterwards, because fresh pages are slow to touch.
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::int64_t bytes, Pool& pool = pages());
  Scratch(Scratch&& other) noexcept { *this = std::move(other); }
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(log2_, other.log2_);
    return *this;
  }
  ~Scratch();

  [[nodiscard]] std::byte* data() const { return data_; }
  /// Never gives the memory back.
  void leak() { data_ = nullptr; }

 private:
  Pool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  int log2_ = 0;  // logarithm of the size
};

}  // namespace heatpp::detail

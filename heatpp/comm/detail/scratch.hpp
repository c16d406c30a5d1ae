#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heatpp::detail {

/// Memory for what is under way. Given back, it is kept for the next one, since fresh pages are slow to touch.
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::int64_t bytes);
  Scratch(Scratch&& other) noexcept { *this = std::move(other); }
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(log2_, other.log2_);
    return *this;
  }
  ~Scratch();

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  int log2_ = 0;  // of its size
};

}  // namespace heatpp::detail

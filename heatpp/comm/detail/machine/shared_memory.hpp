#pragma once

#include <cstddef>
#include <memory>

namespace heatpp {
class Communicator;
}

namespace heatpp::detail {

/// Memory that all ranks of a communicator have mapped, of zeroes at first.
class SharedMemory {
 public:
  /// Collective. Nothing, on all ranks, where they share no memory, or the system gives too little of it on any.
  static std::unique_ptr<SharedMemory> make(const Communicator& comm, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  SharedMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace heatpp::detail

#pragma once

#include <cstddef>
#include <memory>

namespace heatpp {
class Communicator;
}

namespace heatpp::detail {

/// Memory that all ranks of a communicator have mapped. It is zero at first.
class SharedMemory {
 public:
  /// Maps the memory. Collective; `node` is the number of this rank's node. Returns nothing, on all ranks, if they are
  /// on several nodes, or if the system gives too little memory.
  static std::unique_ptr<SharedMemory> make(const Communicator& comm, int node, std::size_t bytes);
  /// Maps the memory for a communicator that is complete. Also returns nothing for HEATPP_SHARED_MEMORY=off, and for
  /// one rank. Collective.
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

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <heatpp/comm/detail/machine/shared_memory.hpp>
#include <vector>

namespace heatpp::detail {

/// Messages through memory that the ranks of a node share, for schedules. Every rank numbers the lanes of its schedules
/// alike; a channel belongs to one lane at a time. What a rank sends in a step of a lane it lays in one of its two
/// slots of the channel, and says where to each receiver; these read it there, and say that they have. Messages of a
/// lane between a pair of ranks come in order.
class Channels {
 public:
  static constexpr std::size_t count = 8;
  static constexpr std::int64_t slot_bytes = 64 << 10;   ///< for the elements of a step
  static constexpr std::int64_t spare_bytes = 16 << 10;  ///< for parts that come out uneven, and to align them

  /// Collective over `node`, whose ranks are those with the numbers `ranks` in the communicator that the schedules are
  /// for. Nothing where they share no memory, or the system gives too little of it.
  static std::unique_ptr<Channels> make(const Communicator& node, std::vector<std::int64_t> ranks);

  /// Numbers for so many lanes, which all ranks take in one order: the first one.
  [[nodiscard]] std::uint64_t take(std::size_t lanes) { return taken_.fetch_add(lanes); }
  /// Whether the lanes before this one are through with its channel.
  [[nodiscard]] bool open(std::uint64_t lane) const;
  void close(std::uint64_t lane);

  /// Where the lane's next step may lay slot_bytes + spare_bytes; nullptr while another rank reads what is there.
  [[nodiscard]] std::byte* slot(std::uint64_t lane) const;
  /// Tells a rank that a message for it begins at this byte of the slot.
  void post(std::uint64_t lane, int to, std::size_t offset);
  /// The step has sent all that it has to.
  void turn_over(std::uint64_t lane) { ++mine_[lane % count].steps; }

  /// The next message of the rank; nullptr if it has sent none.
  [[nodiscard]] const std::byte* received(std::uint64_t lane, int from) const;
  /// It has been read.
  void release(std::uint64_t lane, int from);

 private:
  /// From one rank to another in a channel; each half is written by one of them.
  struct Pair {
    alignas(64) std::atomic<std::uint64_t> sent;
    std::array<std::uint64_t, 2> offsets;  // of the latest two messages
    alignas(64) std::atomic<std::uint64_t> read;
  };
  /// What this rank knows of a channel.
  struct Mine {
    std::atomic<std::uint64_t> ended{0};  // lanes
    std::uint64_t steps = 0;              // that have sent
    std::vector<std::uint64_t> sent, received;
    std::array<std::vector<std::uint64_t>, 2> in_slot;  // by rank, the number of the latest message that is there
  };

  Channels(std::unique_ptr<SharedMemory> memory, std::size_t rank, std::vector<std::int64_t> ranks);
  [[nodiscard]] std::size_t place(int rank) const { return places_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Pair& pair(std::size_t from, std::size_t to, std::uint64_t lane) const;
  [[nodiscard]] std::byte* slot_of(std::size_t rank, std::uint64_t lane, std::uint64_t step) const;

  std::unique_ptr<SharedMemory> memory_;
  std::size_t rank_, ranks_;
  std::vector<std::size_t> places_;  // by the number of a rank in the communicator
  std::array<Mine, count> mine_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace heatpp::detail

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <heatpp/comm/detail/machine/shared_memory.hpp>
#include <vector>

namespace heatpp::detail {

/// Messages of schedules through memory that the ranks of a node share. Every rank numbers the lanes of its schedules
/// alike; a channel belongs to one lane at a time. In each step of a lane a rank writes what it sends to one of its two
/// slots of the channel and tells each receiver where. The receivers read it there and confirm that they have. Messages
/// of a lane between two ranks come in order.
class Channels {
 public:
  static constexpr std::size_t count = 8;
  static constexpr std::int64_t slot_bytes = 64 << 10;   ///< room for the elements of a step
  static constexpr std::int64_t spare_bytes = 16 << 10;  ///< room for uneven parts and for alignment

  /// Makes the channels. Collective over `node`, whose ranks have the numbers `ranks` in the communicator of the
  /// schedules. Returns nothing if they share no memory, or if the system gives too little of it.
  static std::unique_ptr<Channels> make(const Communicator& node, std::vector<std::int64_t> ranks);

  /// Reserves numbers for this many lanes and returns the first one. All ranks reserve in one order.
  [[nodiscard]] std::uint64_t take(std::size_t lanes) { return taken_.fetch_add(lanes); }
  /// Whether the lanes before this one have finished with its channel.
  [[nodiscard]] bool open(std::uint64_t lane) const;
  void close(std::uint64_t lane);

  /// Returns where the lane's next step may write slot_bytes + spare_bytes; nullptr while a rank reads there.
  [[nodiscard]] std::byte* slot(std::uint64_t lane) const;
  /// Tells a rank that a message for it begins at this byte of the slot.
  void post(std::uint64_t lane, int to, std::size_t offset);
  /// Ends the lane's step, which has sent everything.
  void turn_over(std::uint64_t lane) { ++mine_[lane % count].steps; }

  /// Returns the next message of the rank; nullptr if it has sent none.
  [[nodiscard]] const std::byte* received(std::uint64_t lane, int from) const;
  /// Tells the rank that its message has been read.
  void release(std::uint64_t lane, int from);

 private:
  /// Counters from one rank to another in a channel; each rank writes one half.
  struct Pair {
    alignas(64) std::atomic<std::uint64_t> sent;
    std::array<std::uint64_t, 2> offsets;  // offsets of the latest two messages
    alignas(64) std::atomic<std::uint64_t> read;
  };
  /// What this rank knows of a channel.
  struct Mine {
    std::atomic<std::uint64_t> ended{0};  // lanes that have ended
    std::uint64_t steps = 0;              // steps that have sent
    std::vector<std::uint64_t> sent, received;
    std::array<std::vector<std::uint64_t>, 2> in_slot;  // by rank, the number of the latest message in the slot
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

/// Memory through which schedules go inside nodes. The level is equal on all ranks; a rank that is alone on its node
/// has no channels.
struct ScheduleMemory {
  int level = -1;  ///< the outermost level inside nodes that uses memory; -1: all levels use messages
  std::shared_ptr<Channels> channels = nullptr;  ///< of this rank's node
};
}  // namespace heatpp::detail

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <heatpp/comm/detail/machine/shared_memory.hpp>
#include <memory>

namespace heatpp::detail {

/// Memory that all ranks of a communicator share: slots of each rank, which the others read, and each rank's progress.
/// Collectives over it consist of rounds, numbered from 1 on through all of them. Each round uses one slot per rank.
class Segment {
 public:
  static constexpr std::int64_t slots = 3;
  /// Keeps two counters so far apart that a core never fetches both at once.
  static constexpr std::size_t apart = 128;

  // The largest slot that pays, for few ranks.
  static constexpr std::int64_t largest_slot = 256 << 10;

  /// Makes the segment. Collective; `node` is the number of this rank's node. Returns nothing if the ranks share no
  /// memory, or if the system gives too little of it. Slots have at most `most_slot` bytes, whole pages of 4 KiB.
  static std::unique_ptr<Segment> make(const Communicator& comm, int node, std::int64_t most_slot = largest_slot);

  [[nodiscard]] std::int64_t slot_bytes() const { return slot_bytes_; }
  [[nodiscard]] std::byte* slot(int rank, std::int64_t round) const {
    return memory_->data() + static_cast<std::size_t>(ranks_) * 2 * apart +
           (rank * slots + round % slots) * slot_bytes_;
  }
  /// Whether the others have read what this rank's slot of the round held before.
  [[nodiscard]] bool may_fill(std::int64_t round) const { return all(filled, round - 1); }

  enum Event { filled, reduced };
  /// Tells the others that this rank has done its part of the round.
  void announce(Event event, std::int64_t round) const {
    progress(rank_, event).store(round, std::memory_order_release);
  }
  /// Whether a rank has announced the event, or all ranks have.
  [[nodiscard]] bool has(int rank, std::int64_t round) const {
    return progress(rank, filled).load(std::memory_order_acquire) >= round;
  }
  [[nodiscard]] bool all(Event event, std::int64_t round) const {
    auto& past = past_[event];
    if (past.load(std::memory_order_acquire) >= round) return true;
    for (int rank = 0; rank < ranks_; ++rank)
      if (progress(rank, event).load(std::memory_order_acquire) < round) return false;
    past.store(round, std::memory_order_release);
    return true;
  }

  /// Reserves this many rounds for a collective and returns the first one.
  [[nodiscard]] std::int64_t begin(std::int64_t rounds) { return begun_.fetch_add(rounds) + 1; }
  std::atomic<std::int64_t> ended = 0;  ///< rounds that this rank's collectives have finished

 private:
  Segment(std::unique_ptr<SharedMemory> memory, std::int64_t slot_bytes, int rank, int ranks)
      : memory_(std::move(memory)), slot_bytes_(slot_bytes), rank_(rank), ranks_(ranks) {}
  [[nodiscard]] std::atomic<std::int64_t>& progress(int rank, Event event) const {
    // Fresh pages are zero, so the counters start at zero.
    auto* const at = memory_->data() + (static_cast<std::size_t>(rank) * 2 + event) * apart;
    return *reinterpret_cast<std::atomic<std::int64_t>*>(at);
  }

  std::unique_ptr<SharedMemory> memory_;
  std::int64_t slot_bytes_;
  int rank_, ranks_;
  /// Rounds that all ranks have passed. Another look would take the cache lines from ranks that write them.
  mutable std::array<std::atomic<std::int64_t>, 2> past_ = {};
  std::atomic<std::int64_t> begun_ = 0;  // rounds that this rank's collectives have reserved so far
};

}  // namespace heatpp::detail

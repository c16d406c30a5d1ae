#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <heatpp/comm/detail/machine/shared_memory.hpp>
#include <memory>

namespace heatpp::detail {

/// Memory that all ranks of a communicator share: slots of each rank that the others read, and how far each rank is.
/// Collectives over it are made of rounds, numbered from 1 on through all of them, each of which uses one slot a rank.
class Segment {
 public:
  static constexpr std::int64_t slots = 3;
  /// Far enough for two counters never to share what a core fetches at once.
  static constexpr std::size_t apart = 128;

  /// Collective; `node` is the number of this rank's node. Nothing where the ranks do not share memory, or the system
  /// gives too little of it.
  static std::unique_ptr<Segment> make(const Communicator& comm, int node);

  [[nodiscard]] std::int64_t slot_bytes() const { return slot_bytes_; }
  [[nodiscard]] std::byte* slot(int rank, std::int64_t round) const {
    return memory_->data() + static_cast<std::size_t>(ranks_) * 2 * apart +
           (rank * slots + round % slots) * slot_bytes_;
  }
  /// Whether the others are past reading what this rank's slot of the round held before.
  [[nodiscard]] bool may_fill(std::int64_t round) const { return all(filled, round - 1); }

  enum Event { filled, reduced };
  /// Tells the others that this rank has done its part of the round.
  void announce(Event event, std::int64_t round) const {
    progress(rank_, event).store(round, std::memory_order_release);
  }
  /// Whether a rank has, or all ranks have.
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

  /// Takes so many rounds for a collective; the number of the first one.
  [[nodiscard]] std::int64_t begin(std::int64_t rounds) { return begun_.fetch_add(rounds) + 1; }
  std::atomic<std::int64_t> ended = 0;  ///< the rounds that this rank's collectives are through with

 private:
  Segment(std::unique_ptr<SharedMemory> memory, std::int64_t slot_bytes, int rank, int ranks)
      : memory_(std::move(memory)), slot_bytes_(slot_bytes), rank_(rank), ranks_(ranks) {}
  [[nodiscard]] std::atomic<std::int64_t>& progress(int rank, Event event) const {
    // Zero pages hold counters that stand at zero.
    auto* const at = memory_->data() + (static_cast<std::size_t>(rank) * 2 + event) * apart;
    return *reinterpret_cast<std::atomic<std::int64_t>*>(at);
  }

  std::unique_ptr<SharedMemory> memory_;
  std::int64_t slot_bytes_;
  int rank_, ranks_;
  /// Rounds that all have been seen to be past: to look again would take the others' lines from them before they write.
  mutable std::array<std::atomic<std::int64_t>, 2> past_ = {};
  std::atomic<std::int64_t> begun_ = 0;  // the rounds that this rank's collectives have taken so far
};

}  // namespace heatpp::detail

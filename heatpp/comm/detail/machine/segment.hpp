#pragma once

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
  static constexpr std::int64_t slot_bytes = 256 << 10;
  static constexpr std::uint64_t slots = 3;

  /// Collective. Nothing where the ranks do not share memory, or the system gives too little of it.
  static std::unique_ptr<Segment> make(const Communicator& comm);

  [[nodiscard]] std::byte* slot(int rank, std::uint64_t round) const;

  enum Event { filled, reduced };
  /// Tells the others that this rank has done its part of the round.
  void announce(Event event, std::uint64_t round) const;
  /// Whether all ranks have.
  [[nodiscard]] bool all(Event event, std::uint64_t round) const;

  std::atomic<std::uint64_t> begun = 0;  ///< the rounds that this rank's collectives have taken so far
  std::atomic<std::uint64_t> ended = 0;  ///< those that they are through with

 private:
  Segment(std::unique_ptr<SharedMemory> memory, int rank, int ranks)
      : memory_(std::move(memory)), rank_(rank), ranks_(ranks) {}
  [[nodiscard]] std::atomic<std::uint64_t>& progress(int rank, Event event) const;

  std::unique_ptr<SharedMemory> memory_;
  int rank_, ranks_;
};

}  // namespace heatpp::detail

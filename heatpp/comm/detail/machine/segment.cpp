#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/machine/segment.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

// Far enough apart for two counters never to share what a core fetches at once.
constexpr std::size_t apart = 128;

// Slots are as large as pays, of few ranks, and a communicator has at most so many bytes of them.
constexpr std::int64_t largest_slot = 256 << 10, most_bytes = 16 << 20;
constexpr std::int64_t page = 4 << 10;

std::int64_t slot_bytes_for(int ranks) {
  const auto share = most_bytes / (Segment::slots * ranks) / page * page;
  return std::clamp(share, page, largest_slot);
}
std::size_t bytes_of(int ranks, std::int64_t slot_bytes) {
  const auto each = 2 * apart + static_cast<std::size_t>(Segment::slots * slot_bytes);
  return static_cast<std::size_t>(ranks) * each;
}

}  // namespace

std::unique_ptr<Segment> Segment::make(const Communicator& comm, int node) {
  const auto slot_bytes = slot_bytes_for(comm.size());
  auto memory = SharedMemory::make(comm, node, bytes_of(comm.size(), slot_bytes));
  if (!memory) return nullptr;
  return std::unique_ptr<Segment>(new Segment(std::move(memory), slot_bytes, comm.rank(), comm.size()));
}

std::byte* Segment::slot(int rank, std::int64_t round) const {
  return memory_->data() + static_cast<std::size_t>(ranks_) * 2 * apart + (rank * slots + round % slots) * slot_bytes_;
}

std::atomic<std::int64_t>& Segment::progress(int rank, Event event) const {
  // Zero pages hold counters that stand at zero.
  auto* const at = memory_->data() + (static_cast<std::size_t>(rank) * 2 + event) * apart;
  return *reinterpret_cast<std::atomic<std::int64_t>*>(at);
}

void Segment::announce(Event event, std::int64_t round) const {
  progress(rank_, event).store(round, std::memory_order_release);
}

bool Segment::has(int rank, std::int64_t round) const {
  return progress(rank, filled).load(std::memory_order_acquire) >= round;
}

bool Segment::all(Event event, std::int64_t round) const {
  for (int rank = 0; rank < ranks_; ++rank)
    if (progress(rank, event).load(std::memory_order_acquire) < round) return false;
  return true;
}

}  // namespace heatpp::detail

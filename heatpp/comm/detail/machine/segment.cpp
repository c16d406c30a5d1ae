#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/machine/segment.hpp>

namespace heatpp::detail {
namespace {

// Far enough apart for two counters never to share what a core fetches at once.
constexpr std::size_t apart = 128;

}  // namespace

std::unique_ptr<Segment> Segment::make(const Communicator& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  auto memory = SharedMemory::make(comm, ranks * (2 * apart + slots * static_cast<std::size_t>(slot_bytes)));
  if (!memory) return nullptr;
  return std::unique_ptr<Segment>(new Segment(std::move(memory), comm.rank(), comm.size()));
}

std::byte* Segment::slot(int rank, std::uint64_t round) const {
  const auto number = static_cast<std::size_t>(rank) * slots + round % slots;
  return memory_->data() + static_cast<std::size_t>(ranks_) * 2 * apart + number * static_cast<std::size_t>(slot_bytes);
}

std::atomic<std::uint64_t>& Segment::progress(int rank, Event event) const {
  // Zero pages hold counters that stand at zero.
  auto* const at = memory_->data() + (static_cast<std::size_t>(rank) * 2 + event) * apart;
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(at);
}

void Segment::announce(Event event, std::uint64_t round) const {
  progress(rank_, event).store(round, std::memory_order_release);
}

bool Segment::all(Event event, std::uint64_t round) const {
  for (int rank = 0; rank < ranks_; ++rank)
    if (progress(rank, event).load(std::memory_order_acquire) < round) return false;
  return true;
}

}  // namespace heatpp::detail

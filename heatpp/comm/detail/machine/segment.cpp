#include <heatpp/comm/detail/machine/segment.hpp>

#include <heatpp/comm/communicator.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

// The most bytes that a communicator has for slots.
constexpr std::int64_t most_bytes = 16 << 20;
constexpr std::int64_t page = 4 << 10;

std::int64_t slot_bytes_for(int ranks, std::int64_t most_slot) {
  const auto share = most_bytes / (Segment::slots * ranks) / page * page;
  return std::clamp(share, page, most_slot);
}
std::size_t bytes_of(int ranks, std::int64_t slot_bytes) {
  const auto each = 2 * Segment::apart + static_cast<std::size_t>(Segment::slots * slot_bytes);
  return static_cast<std::size_t>(ranks) * each;
}

}  // namespace

std::unique_ptr<Segment> Segment::make(const Communicator& comm, int node, std::int64_t most_slot) {
  const auto slot_bytes = slot_bytes_for(comm.size(), most_slot);
  auto memory = SharedMemory::make(comm, node, bytes_of(comm.size(), slot_bytes));
  if (!memory) return nullptr;
  return std::unique_ptr<Segment>(new Segment(std::move(memory), slot_bytes, comm.rank(), comm.size()));
}

}  // namespace heatpp::detail

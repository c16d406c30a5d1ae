#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/machine/segment.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace heatpp::detail {
namespace {

// Far enough apart for two counters never to share what a core fetches at once.
constexpr std::size_t apart = 128;

// Slots are as large as pays, of few ranks, and a communicator has at most so many bytes of them.
constexpr std::int64_t largest_slot = 128 << 10, most_bytes = 16 << 20;
constexpr std::int64_t page = 4 << 10;

std::int64_t slot_bytes_for(int ranks) {
  const auto share = most_bytes / (Segment::slots * ranks) / page * page;
  return std::clamp(share, page, largest_slot);
}
std::size_t bytes_of(int ranks, std::int64_t slot_bytes) {
  const auto each = 2 * apart + static_cast<std::size_t>(Segment::slots * slot_bytes);
  return static_cast<std::size_t>(ranks) * each;
}

// These calls are none of the program's: they are neither counted nor compared.
bool on_all(const Communicator& comm, bool mine) {
  std::int64_t all = mine;
  run(start_allreduce(comm, {&all, 1, Dtype::int64}, ReduceOp::min, "Communicator"));
  return all != 0;
}

/// What rank 0 knows: its node, and a name that no other program uses.
struct Offer {
  std::int64_t node, process, time;
  [[nodiscard]] std::string name() const { return fmt::format("/heatpp-{}-{}", process, time); }
};
Offer offer_of_rank_0(const Communicator& comm, int node) {
  std::array<std::int64_t, 3> parts{node, ::getpid(), std::chrono::steady_clock::now().time_since_epoch().count()};
  run(start_broadcast(comm, parts, 0, "Communicator"));
  return {parts[0], parts[1], parts[2]};
}

std::byte* map(int file, std::size_t bytes) {
  if (file < 0) return nullptr;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// A new file with its pages reserved, since a full /dev/shm would otherwise kill whoever writes to it first.
int create(const std::string& name, std::size_t bytes) {
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) return file;
  ::close(file);
  ::shm_unlink(name.c_str());
  return -1;
}

}  // namespace

std::unique_ptr<Segment> Segment::make(const Communicator& comm, int node) {
  if (comm.size() == 1) return nullptr;
  const auto offer = offer_of_rank_0(comm, node);
  if (!on_all(comm, node == offer.node)) return nullptr;
  if (static_cast<unsigned>(comm.size()) > std::thread::hardware_concurrency()) tries_before_yield = 1;
  const auto slot_bytes = slot_bytes_for(comm.size());
  const auto bytes = bytes_of(comm.size(), slot_bytes);
  auto* memory = comm.rank() == 0 ? map(create(offer.name(), bytes), bytes) : nullptr;
  await_all(comm, "Communicator");
  if (comm.rank() != 0) memory = map(::shm_open(offer.name().c_str(), O_RDWR, 0600), bytes);
  const bool complete = on_all(comm, memory != nullptr);
  if (comm.rank() == 0) ::shm_unlink(offer.name().c_str());
  std::unique_ptr<Segment> segment;
  if (memory) segment.reset(new Segment(memory, slot_bytes, comm.rank(), comm.size()));
  return complete ? std::move(segment) : nullptr;
}

Segment::~Segment() { ::munmap(memory_, bytes_of(ranks_, slot_bytes_)); }

std::byte* Segment::slot(int rank, std::int64_t round) const {
  return memory_ + static_cast<std::size_t>(ranks_) * 2 * apart + (rank * slots + round % slots) * slot_bytes_;
}

std::atomic<std::int64_t>& Segment::progress(int rank, Event event) const {
  // Zero pages hold counters that stand at zero.
  return *reinterpret_cast<std::atomic<std::int64_t>*>(memory_ + (static_cast<std::size_t>(rank) * 2 + event) * apart);
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

#include <heatpp/comm/detail/machine/shared_memory.hpp>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

namespace heatpp::detail {
namespace {

// Whether it is so on all ranks. These calls are not the program's: they are neither counted nor compared.
bool on_all(const Communicator& comm, bool mine) {
  std::int64_t all = mine;
  run(small_allreduce(comm, {&all, 1, Dtype::int64}, ReduceOp::min, "Communicator"));
  return all != 0;
}

/// What rank 0 tells: its node, and a name that no other program uses.
struct Offer {
  std::int64_t node, process, time;
  [[nodiscard]] std::string name() const { return formatted("/heatpp-{}-{}", process, time); }
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

/// Makes a file and reserves its pages; if /dev/shm were full, the first write would end the process.
int create(const std::string& name, std::size_t bytes) {
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) return file;
  ::close(file);
  ::shm_unlink(name.c_str());
  return -1;
}

}  // namespace

std::unique_ptr<SharedMemory> SharedMemory::make(const Communicator& comm, int node, std::size_t bytes) {
  if (comm.size() == 1) return nullptr;
  const auto offer = offer_of_rank_0(comm, node);
  if (!on_all(comm, node == offer.node)) return nullptr;
  if (static_cast<unsigned>(comm.size()) > std::thread::hardware_concurrency()) tries_before_yield = 1;
  auto* memory = comm.rank() == 0 ? map(create(offer.name(), bytes), bytes) : nullptr;
  await_all(comm, "Communicator");
  if (comm.rank() != 0) memory = map(::shm_open(offer.name().c_str(), O_RDWR, 0600), bytes);
  const bool complete = on_all(comm, memory != nullptr);
  if (comm.rank() == 0) ::shm_unlink(offer.name().c_str());
  std::unique_ptr<SharedMemory> made;
  if (memory) made.reset(new SharedMemory(memory, bytes));
  return complete ? std::move(made) : nullptr;
}

std::unique_ptr<SharedMemory> SharedMemory::make(const Communicator& comm, std::size_t bytes) {
  const auto& impl = comm.impl();
  return impl.settings->shared_memory ? make(comm, impl.node, bytes) : nullptr;
}

SharedMemory::~SharedMemory() { ::munmap(data_, bytes_); }

}  // namespace heatpp::detail

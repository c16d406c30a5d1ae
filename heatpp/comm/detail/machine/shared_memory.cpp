#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/machine/shared_memory.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

namespace heatpp::detail {
namespace {

bool on_all(const Communicator& comm, bool mine) {
  std::array<std::int64_t, 1> all{mine};
  comm.allreduce(all, ReduceOp::min);
  return all[0] != 0;
}

/// A name that no other program uses, chosen by rank 0.
std::string shared_name(const Communicator& comm) {
  std::array<std::int64_t, 2> parts{::getpid(), std::chrono::steady_clock::now().time_since_epoch().count()};
  comm.broadcast(parts, 0);
  return fmt::format("/heatpp-{}-{}", parts[0], parts[1]);
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

std::unique_ptr<SharedMemory> SharedMemory::make(const Communicator& comm, std::size_t bytes) {
  if (comm.size() == 1 || !on_all(comm, comm.split_shared().size() == comm.size())) return nullptr;
  if (static_cast<std::size_t>(comm.size()) > std::thread::hardware_concurrency()) tries_before_yield = 1;
  const auto name = shared_name(comm);
  auto* memory = comm.rank() == 0 ? map(create(name, bytes), bytes) : nullptr;
  comm.barrier();
  if (comm.rank() != 0) memory = map(::shm_open(name.c_str(), O_RDWR, 0600), bytes);
  const bool complete = on_all(comm, memory != nullptr);
  if (comm.rank() == 0) ::shm_unlink(name.c_str());
  std::unique_ptr<SharedMemory> made;
  if (memory) made.reset(new SharedMemory(memory, bytes));
  return complete ? std::move(made) : nullptr;
}

SharedMemory::~SharedMemory() { ::munmap(data_, bytes_); }

}  // namespace heatpp::detail

#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/side.hpp>

#include <algorithm>
#include <unistd.h>

namespace heatpp::device {

std::int64_t device_id(int device) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const auto hash = std::hash<std::string_view>()(host) & 0x7fffffff;
  return static_cast<std::int64_t>(hash << 32) | cuda::bus_address(device);
}

std::vector<std::int64_t> find_devices(const Communicator& comm) {
  std::int64_t mine = -1;
  all_or_none(comm, [&] {
    if (cuda::in_use()) mine = device_id(cuda::current_device());
  });
  auto all = comm.allgather(mine);
  return std::ranges::all_of(all, [](auto device) { return device < 0; }) ? std::vector<std::int64_t>() : all;
}

std::string device_text(std::int64_t id) {
  if (id < 0) return "no device";
  const auto address = static_cast<std::uint32_t>(id);
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", address >> 16, address >> 8 & 0xff, address >> 3 & 0x1f, address & 7);
}

bool apart(std::span<const std::int64_t> devices) {
  std::vector<std::int64_t> sorted(devices.begin(), devices.end());
  std::ranges::sort(sorted);
  return sorted.front() >= 0 && std::ranges::adjacent_find(sorted) == sorted.end();
}

Side& Side::of(const Communicator& comm, const Memory& memory) {
  auto& side = comm.impl().device;
  if (!side) side = std::make_shared<Side>(comm, memory.device);
  if (side->device_ != memory.device)
    detail::raise<ValueError>("device", "got memory of device {}; expected that of device {}, as before on these ranks",
                              memory.device, side->device_);
  return *side;
}

Side::Side(const Communicator& comm, int device) : device_(device) {
  std::int64_t id = -1;
  all_or_none(comm, [&] {
    if (!cuda::available())
      detail::raise<CommError>("device", "got memory of device {}; expected CUDA's runtime and a device", device);
    if (nccl::available()) id = device_id(device);
  });
  devices_ = comm.allgather(id);
}

nccl::Group& Side::nccl(const Communicator& comm) {
  if (nccl_) return *nccl_;
  const cuda::OnDevice guard(device_);
  nccl_ = std::make_unique<nccl::Group>(comm);
  return *nccl_;
}

const Communicator& Side::messages(const Communicator& comm) {
  if (messages_) return *messages_;
  messages_ = comm.split(0, comm.rank());
  messages_->impl().traffic = comm.impl().traffic;
  return *messages_;
}

detail::Turns& turns() {
  static detail::Turns instance;
  return instance;
}

}  // namespace heatpp::device

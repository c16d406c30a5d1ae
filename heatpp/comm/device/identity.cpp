#include <heatpp/comm/device/identity.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/cuda/cuda.hpp>

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
    if (const int device = cuda::in_use() ? cuda::current_device() : -1; device >= 0) mine = device_id(device);
  });
  auto all = comm.allgather(mine);
  return std::ranges::all_of(all, [](auto device) { return device < 0; }) ? std::vector<std::int64_t>() : all;
}

std::string device_text(std::int64_t id) {
  if (id < 0) return "no device";
  const auto address = static_cast<std::uint32_t>(id);
  return heatpp::detail::formatted("{:04x}:{:02x}:{:02x}.{}", address >> 16, address >> 8 & 0xff, address >> 3 & 0x1f,
                                   address & 7);
}

bool apart(std::span<const std::int64_t> devices) {
  std::vector<std::int64_t> sorted(devices.begin(), devices.end());
  std::ranges::sort(sorted);
  return sorted.front() >= 0 && std::ranges::adjacent_find(sorted) == sorted.end();
}

}  // namespace heatpp::device

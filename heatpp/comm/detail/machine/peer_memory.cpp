#include <heatpp/comm/detail/machine/peer_memory.hpp>

#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/runs.hpp>

#include <array>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>
#ifdef __linux__
#include <sys/uio.h>
#endif

namespace heatpp::detail {

#ifdef __linux__
namespace {

constexpr std::size_t most_runs = 1024;  // the kernel's limit

std::uint64_t machine_here() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> space{};
  const auto length = ::readlink("/proc/self/ns/pid", space.data(), space.size() - 1);
  return boot.empty() || length <= 0 ? 0 : hash_of(boot + space.data());
}

/// Returns a number that differs between processes, also between those of equal number on other machines.
const std::uint64_t& own_signature() {
  static const std::uint64_t signature = [] {
    std::random_device random;
    return (std::uint64_t{random()} << 32) | random();
  }();
  return signature;
}

template <class Block>
std::vector<iovec> runs_of(const Block& block, std::int64_t first, std::int64_t length) {
  std::vector<iovec> runs;
  for_each_run(block, first, length, [&](auto* data, std::int64_t n) {
    runs.push_back({const_cast<std::byte*>(data), static_cast<std::size_t>(n)});
  });
  return runs;
}

}  // namespace

Whereabouts whereabouts(const ConstBlock& block) {
  static const auto machine = machine_here();
  return {machine, ::getpid(), &own_signature(), own_signature(), block};
}

bool is_readable(const Whereabouts& from) {
  if (from.machine == 0 || from.machine != whereabouts({}).machine) return false;
  std::uint64_t found = 0;
  const iovec here{&found, sizeof found}, there{const_cast<std::uint64_t*>(from.sign), sizeof found};
  const auto bytes = ::process_vm_readv(static_cast<pid_t>(from.process), &here, 1, &there, 1, 0);
  return bytes == static_cast<ssize_t>(sizeof found) && found == from.signature;
}

bool copy_from_peer(const Whereabouts& from, const Block& to, std::int64_t first, std::int64_t length) {
  const auto there = runs_of(from.block, first, length), here = runs_of(to, first, length);
  return there.size() <= most_runs && here.size() <= most_runs &&
         ::process_vm_readv(static_cast<pid_t>(from.process), here.data(), here.size(), there.data(), there.size(),
                            0) == static_cast<ssize_t>(length);
}
#else
Whereabouts whereabouts(const ConstBlock& block) { return {0, 0, nullptr, 0, block}; }
bool is_readable(const Whereabouts&) { return false; }
bool copy_from_peer(const Whereabouts&, const Block&, std::int64_t, std::int64_t) { return false; }
#endif

}  // namespace heatpp::detail

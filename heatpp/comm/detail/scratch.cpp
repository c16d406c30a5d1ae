#include <heatpp/comm/detail/scratch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace heatpp::detail {
namespace {

struct Pool {
  std::mutex mutex;
  std::array<std::vector<std::byte*>, 64> kept;  // by the logarithm of their size
  ~Pool() {
    for (auto& blocks : kept) std::ranges::for_each(blocks, std::free);
  }
};
Pool& pool() {
  static Pool instance;
  return instance;
}

/// At most so many of a size, and none that large, are kept.
constexpr std::size_t keep = 32;
constexpr int keep_log2 = 24;

}  // namespace

Scratch::Scratch(std::int64_t bytes) {
  if (bytes == 0) return;
  log2_ = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes - 1))), 12);
  {
    const std::lock_guard lock(pool().mutex);
    auto& blocks = pool().kept[static_cast<std::size_t>(log2_)];
    if (!blocks.empty()) {
      data_ = blocks.back();
      blocks.pop_back();
      return;
    }
  }
  data_ = static_cast<std::byte*>(std::aligned_alloc(4096, std::size_t{1} << log2_));
  if (!data_) throw std::bad_alloc();
}

Scratch::~Scratch() {
  if (!data_) return;
  const std::lock_guard lock(pool().mutex);
  auto& blocks = pool().kept[static_cast<std::size_t>(log2_)];
  if (log2_ <= keep_log2 && blocks.size() < keep) blocks.push_back(data_);
  else std::free(data_);
}

}  // namespace heatpp::detail

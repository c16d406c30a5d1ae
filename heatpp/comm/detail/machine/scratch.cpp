#include <heatpp/comm/detail/machine/scratch.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <bit>

namespace heatpp::detail {
namespace {

constexpr int keep_log2 = 24;  // larger blocks are not kept

}  // namespace

Pool::~Pool() {
  for (auto& blocks : kept_) std::ranges::for_each(blocks, free_);
}

std::byte* Pool::take(int log2) {
  {
    const std::lock_guard lock(mutex_);
    auto& blocks = kept_[static_cast<std::size_t>(log2)];
    if (!blocks.empty()) {
      auto* const block = blocks.back();
      blocks.pop_back();
      return block;
    }
  }
  auto* const block = static_cast<std::byte*>(allocate_(std::size_t{1} << log2));
  if (!block)
    raise<MemoryError>("memory", "got a buffer of {} bytes to allocate; expected no more than the system has",
                       std::size_t{1} << log2);
  return block;
}

void Pool::give(std::byte* block, int log2) {
  const std::lock_guard lock(mutex_);
  auto& blocks = kept_[static_cast<std::size_t>(log2)];
  if (log2 > keep_log2 || blocks.size() == keep_) return free_(block);
  // How many blocks come back at once varies; reserving keeps repeated calls free of allocations.
  blocks.reserve(std::min<std::size_t>(keep_, 32));
  blocks.push_back(block);
}

Scratch::Scratch(std::int64_t bytes, Pool& pool) : pool_(&pool) {
  if (bytes == 0) return;
  log2_ = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes - 1))), 12);
  data_ = pool.take(log2_);
}

Scratch::~Scratch() {
  if (data_) pool_->give(data_, log2_);
}

}  // namespace heatpp::detail

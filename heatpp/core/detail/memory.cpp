#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

namespace heatpp::detail {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t large_from = std::size_t{1} << 20;
constexpr std::size_t small_alignment = 64;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

[[noreturn]] void raise_no_memory(std::size_t bytes) {
  raise<MemoryError>("memory", "got a block of {} bytes to allocate; expected no more than the system has", bytes);
}

/// Blocks in huge pages. Freed ones wait for reuse, up to this process's fair share of an eighth of the memory.
class LargeBlocks {
 public:
  void* allocate(std::size_t bytes) {
    const auto size = round_up(bytes, huge_page);
    {
      const std::lock_guard lock(mutex_);
      const auto fit = free_.lower_bound(size);
      if (fit != free_.end() && fit->first <= size + size / 8) {
        void* block = fit->second;
        idle_ -= fit->first;
        used_.emplace(block, fit->first);
        free_.erase(fit);
        return block;
      }
    }
    void* block = map(size);
    const std::lock_guard lock(mutex_);
    used_.emplace(block, size);
    return block;
  }

  /// Returns false for a block that did not come from here.
  bool release(void* block) {
    std::size_t size = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto found = used_.find(block);
      if (found == used_.end()) return false;
      size = found->second;
      used_.erase(found);
      if (idle_ + size <= limit_) {
        free_.emplace(size, block);
        idle_ += size;
        return true;
      }
    }
    ::munmap(block, size);
    return true;
  }

 private:
  /// Maps memory at a huge-page boundary. If the system has none, the idle blocks are given back first.
  void* map(std::size_t size) {
    for (int attempt = 0;; ++attempt) {
      void* raw = ::mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (raw != MAP_FAILED) return trim(static_cast<char*>(raw), size);
      if (attempt == 1) raise_no_memory(size);
      give_back();
    }
  }

  static void* trim(char* raw, std::size_t size) {
    const auto address = reinterpret_cast<std::uintptr_t>(raw);
    char* const aligned = raw + (round_up(address, huge_page) - address);
    if (aligned != raw) ::munmap(raw, static_cast<std::size_t>(aligned - raw));
    const auto tail = static_cast<std::size_t>(raw + huge_page - aligned);
    if (tail) ::munmap(aligned + size, tail);
    ::madvise(aligned, size, MADV_HUGEPAGE);
    return aligned;
  }

  void give_back() {
    const std::lock_guard lock(mutex_);
    for (const auto& [size, block] : free_) ::munmap(block, size);
    free_.clear();
    idle_ = 0;
  }

  static std::size_t fair_share() {
    const auto memory =
        static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return memory / 8 / static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  }

  std::mutex mutex_;
  std::multimap<std::size_t, void*> free_;
  std::unordered_map<void*, std::size_t> used_;
  std::size_t idle_ = 0;
  const std::size_t limit_ = fair_share();
};

LargeBlocks& large_blocks() {
  static auto* blocks = new LargeBlocks;  // tensors may outlive every static object
  return *blocks;
}

// LibTorch's oneDNN and quantised kernels ask for one function that frees any block. Large blocks begin at the boundary
// of a huge page; few small ones do.
void free_block(void* block) {
  const bool may_be_large = reinterpret_cast<std::uintptr_t>(block) % huge_page == 0;
  if (!may_be_large || !large_blocks().release(block)) std::free(block);
}

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &free_block, at::kCPU};
    if (bytes >= large_from) {
      void* block = large_blocks().allocate(bytes);
      return {block, block, &free_block, at::kCPU};
    }
    void* block = std::aligned_alloc(small_alignment, round_up(bytes, small_alignment));
    if (!block) raise_no_memory(bytes);
    return {block, block, &free_block, at::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

}  // namespace

void install_allocator() {
  static Allocator allocator;
  const char* wanted = std::getenv("HEATPP_ALLOCATOR");
  if (!wanted || std::string_view(wanted) != "torch") c10::SetCPUAllocator(&allocator, /*priority=*/1);
}

}  // namespace heatpp::detail

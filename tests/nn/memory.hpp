#pragma once

#include "../with_torch.hpp"

#include <c10/core/CPUAllocator.h>

/// Counts the memory that LibTorch holds on the CPU while it exists.
class Memory final : public c10::Allocator {
 public:
  Memory() : former_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 100); }
  ~Memory() override { c10::SetCPUAllocator(former_, 100); }

  at::DataPtr allocate(std::size_t bytes) override {
    auto* const held = new Held{former_->allocate(bytes), static_cast<std::int64_t>(bytes)};
    now += held->bytes;
    most = std::max(most, now);
    return {held->data.get(), held, &release, held->data.device()};
  }
  at::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  static inline std::int64_t now = 0, most = 0;

 private:
  struct Held {
    at::DataPtr data;
    std::int64_t bytes;
  };
  static void release(void* context) {
    const std::unique_ptr<Held> held(static_cast<Held*>(context));
    now -= held->bytes;
  }
  c10::Allocator* former_;
};

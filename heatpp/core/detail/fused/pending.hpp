#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <functional>
#include <heatpp/core/detail/fused/formula.hpp>
#include <optional>
#include <span>

/// Blocks whose elements are not computed yet. Elementwise functions of large blocks on the CPU give such blocks; the
/// first use of the elements computes the whole formula in one pass. It keeps the blocks that it reads, and a write to
/// one of them computes it first. Everything here is local.
namespace heatpp::detail::fused {

extern std::atomic<int> pending_count;
void compute(const at::Tensor& block);
void compute_readers(const at::Tensor& block);

/// Returns the block after its elements have been computed. Throws MemoryError that names the function.
inline const at::Tensor& computed(const at::Tensor& block) {
  if (pending_count.load(std::memory_order_acquire) != 0) compute(block);
  return block;
}
/// Computes all formulas that read the memory of the block, before it is written.
inline void before_write(const at::Tensor& block) {
  if (pending_count.load(std::memory_order_acquire) != 0) compute_readers(block);
}
/// Whether the elements are not computed yet.
[[nodiscard]] bool is_pending(const at::Tensor& block);

/// Returns `block` as memory to which others may write at any time, which no formula may read later.
[[nodiscard]] at::Tensor given_away(const at::Tensor& block);
/// Returns the block that was given away, or nullptr.
[[nodiscard]] const at::Tensor* given_block(const at::Tensor& block);

/// Adds to a formula what a function computes of the values, which are those of its blocks. Returns nullopt if formulas
/// cannot compute it.
using Build = std::function<std::optional<Value>(Formula&, std::span<const Value>)>;

/// Whether there are enough elements for a formula in blocks that may be computed later. HEATPP_FUSE=0 says no.
[[nodiscard]] bool is_worthwhile(std::span<const at::Tensor> blocks);
/// Returns the block of the function `call` of blocks, to be computed later, or now if others may write to a block.
/// Returns nullopt if LibTorch has to compute it.
[[nodiscard]] std::optional<at::Tensor> fuse(const char* call, std::span<const at::Tensor> blocks, const Build& build);
/// Computes the function into the first block, which the caller owns, together with the second one, which is pending.
/// Returns whether it did.
[[nodiscard]] bool fuse_into(const char* call, std::span<const at::Tensor> blocks, const Build& build);

/// Sets whether functions give pending blocks, for comparisons. Returns what was set before.
bool set_enabled(bool enabled);

}  // namespace heatpp::detail::fused

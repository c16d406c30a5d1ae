#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <functional>
#include <heatpp/core/detail/fused/run.hpp>
#include <memory>
#include <mutex>
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

struct Pending;

/// A pending block that a reduction computes part by part, and reads in the cache. Its elements take no memory, except
/// for slow functions, whose results are kept because a second use would compute them again. Nothing writes to the
/// operands as long as this lives.
class Reading {
 public:
  /// Returns nullopt if the block has to be computed first: others refer to it, a reduction has read it before, or the
  /// result of single calls might not be in C order. Throws MemoryError that names the function.
  [[nodiscard]] static std::optional<Reading> of(const at::Tensor& block);
  /// Computes elements first .. last, in C order, into `buffer` or the block's memory. Returns where they are. Every
  /// element is read once.
  [[nodiscard]] const void* read(std::int64_t first, std::int64_t last, void* buffer) const;

 private:
  class Kept;
  Reading(std::unique_lock<std::recursive_mutex> lock, const Formula& formula, std::shared_ptr<Kept> kept)
      : lock_(std::move(lock)), kept_(std::move(kept)), evaluation_(formula) {}

  std::unique_lock<std::recursive_mutex> lock_;
  std::shared_ptr<Kept> kept_;  // or nullptr
  Evaluation evaluation_;
};

/// Sets whether functions give pending blocks, for comparisons. Returns what was set before.
bool set_enabled(bool enabled);

}  // namespace heatpp::detail::fused

#include <heatpp/core/detail/fused/pending.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/fused/run.hpp>
#include <heatpp/core/detail/ownership.hpp>

#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string_view>

namespace heatpp::detail::fused {
namespace {

constexpr std::int64_t fewest = 8192;      // elements; LibTorch computes fewer in the cache as fast
constexpr std::size_t most_pending = 16;   // arrays; the oldest one is computed before there are more
constexpr std::size_t most_per_call = 10;  // nodes that one function adds

}  // namespace

/// What a pending block has instead of memory. Its storage owns it.
struct Pending {
  Formula formula;
  c10::StorageImpl* storage = nullptr;
  bool used = false;     // in the formula of another array
  bool reduced = false;  // by a reduction that did not compute it into memory
  std::list<Pending*>::iterator place{};
};

namespace {

/// All pending blocks of the process, oldest first.
struct All {
  std::recursive_mutex mutex;
  std::list<Pending*> blocks;
};
All& all() {
  static auto* blocks = new All;  // tensors may outlive every static object
  return *blocks;
}

std::atomic<bool>& enabled() {
  static std::atomic<bool> value = [] {
    const char* const given = std::getenv("HEATPP_FUSE");
    return !given || std::string_view(given) != "0";
  }();
  return value;
}

void drop(void* context) {
  auto* const pending = static_cast<Pending*>(context);
  {
    const std::lock_guard lock(all().mutex);
    all().blocks.erase(pending->place);
    --pending_count;
  }
  delete pending;  // may free the last handle of another pending block
}

Pending* pending_of(const at::Tensor& block) {
  const auto& memory = block.storage().data_ptr();
  return memory.get_deleter() == &drop ? static_cast<Pending*>(memory.get_context()) : nullptr;
}

/// Returns a block of the formula that has all elements in memory of their own, in the size of the result, and to which
/// nothing else refers; or nullptr.
const at::Tensor* reusable(const Pending& pending) {
  for (const auto& block : pending.formula.blocks())
    if (is_sole(block) && block.storage_offset() == 0 && has_all_elements(block, pending.formula.shape()) &&
        block.storage().nbytes() == pending.storage->nbytes() &&
        block.element_size() == bytes_of(pending.formula.nodes().back().type))
      return &block;
  return nullptr;
}

at::DataPtr new_memory(const char* call, std::size_t bytes) {
  try {
    return at::getCPUAllocator()->allocate(bytes);
  } catch (const std::exception& error) {
    throw MemoryError("[" + std::string(call) + "] got no memory for a result (" + error.what() + "); expected enough");
  }
}

/// The memory of a result: that of an operand to which nothing else refers, or its own.
class Memory {
 public:
  explicit Memory(const Pending& pending) : old_(reusable(pending)) {
    if (!old_) own_ = new_memory(pending.formula.call(), pending.storage->nbytes());
  }
  [[nodiscard]] void* get() const { return old_ ? old_->data_ptr() : own_.get(); }
  /// Gives the memory to the block, which is no longer pending.
  void give_to(Pending& pending) {
    if (old_) own_ = old_->storage().unsafeGetStorageImpl()->set_data_ptr(at::DataPtr(nullptr, at::kCPU));
    const auto dropped = pending.storage->set_data_ptr(std::move(own_));  // with `pending`
  }

 private:
  const at::Tensor* old_;
  at::DataPtr own_;
};

void compute_now(Pending& pending) {
  Memory memory(pending);
  run(pending.formula, memory.get());
  memory.give_to(pending);
}

at::Tensor new_pending(Formula formula) {
  const auto lock = std::lock_guard(all().mutex);
  auto& blocks = all().blocks;
  if (blocks.size() >= most_pending) compute_now(*blocks.front());
  const auto type = to_torch(formula.nodes().back().type);
  const auto shape = formula.shape();
  const auto bytes = static_cast<std::size_t>(c10::multiply_integers(shape)) * c10::elementSize(type);
  auto* const pending = new Pending{std::move(formula)};
  pending->place = blocks.insert(blocks.end(), pending);
  ++pending_count;
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                       at::DataPtr(nullptr, pending, &drop, at::kCPU),
                                                       at::getCPUAllocator(), /*resizable=*/true);
  pending->storage = storage.get();
  auto block = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(type));
  block.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return block;
}

/// Whether only this library can write to the memory: LibTorch's allocator gave it, and nobody got its address.
bool is_own(const at::Tensor& block) {
  return block.storage().data_ptr().get_deleter() == at::getCPUAllocator()->raw_deleter();
}

bool fits(const at::Tensor& block, at::IntArrayRef shape) {
  return block.is_cpu() && type_of(block.scalar_type()) && !block.requires_grad() && !block.is_neg() &&
         (block.numel() == 1 || pending_of(block) || is_readable(block, shape));
}

std::vector<std::int64_t> common_shape(std::span<const at::Tensor> blocks) {
  auto shape = blocks.front().sizes().vec();
  for (const auto& block : blocks)
    if (block.sizes() != at::IntArrayRef(shape)) shape = at::infer_size(shape, block.sizes());
  return shape;
}

/// Bytes of blocks that would be free without the formula.
std::size_t kept_bytes(const Formula& formula) {
  std::size_t bytes = 0;
  for (const auto& block : formula.blocks())
    if (is_sole(block)) bytes += block.storage().nbytes();
  return bytes;
}

/// Whether another operand's formula contains all of this one, which then costs nothing.
bool is_part(const Pending& part, std::span<const at::Tensor> blocks) {
  return std::ranges::any_of(blocks, [&](const at::Tensor& block) {
    const auto* const whole = pending_of(block);
    if (!whole || whole == &part || whole->formula.nodes().size() + most_per_call > Formula::most_nodes) return false;
    auto formula = whole->formula;
    static_cast<void>(formula.of_formula(part.formula));
    return formula.nodes().size() == whole->formula.nodes().size();
  });
}

/// Computes operands that would make the formula too long or keep much memory, and those that formulas of other arrays
/// contain, so that nothing is computed many times.
void compute_some(std::span<const at::Tensor> blocks) {
  std::size_t nodes = most_per_call;
  for (const auto& block : blocks)
    if (auto* const pending = pending_of(block)) {
      nodes += pending->formula.nodes().size();
      const bool keeps_much = kept_bytes(pending->formula) > pending->storage->nbytes();
      if (keeps_much || (pending->used && !is_part(*pending, blocks))) compute_now(*pending);
    }
  if (nodes <= Formula::most_nodes) return;
  for (const auto& block : blocks)
    if (auto* const pending = pending_of(block)) compute_now(*pending);
}

std::optional<Formula> built(const char* call, std::span<const at::Tensor> blocks, std::vector<std::int64_t> shape,
                             const Build& build) {
  Formula formula(call, std::move(shape));
  std::vector<Value> values;
  for (const auto& block : blocks) {
    auto* const pending = pending_of(block);
    if (pending && at::IntArrayRef(pending->formula.shape()) != at::IntArrayRef(formula.shape())) compute_now(*pending);
    const auto* const still = pending_of(block);
    values.push_back(still ? formula.of_formula(still->formula) : formula.of_block(block));
  }
  const auto result = build(formula, values);
  if (!result) return std::nullopt;
  for (const auto& block : blocks)
    if (auto* const pending = pending_of(block)) pending->used = true;
  formula.end_with(*result);
  return formula;
}

void release_given(void* context) { delete static_cast<at::Tensor*>(context); }

}  // namespace

std::atomic<int> pending_count = 0;

bool set_enabled(bool value) { return enabled().exchange(value); }

void compute(const at::Tensor& block) {
  const std::lock_guard lock(all().mutex);
  if (auto* const pending = pending_of(block)) compute_now(*pending);
}

void compute_readers(const at::Tensor& block) {
  const std::lock_guard lock(all().mutex);
  auto& blocks = all().blocks;
  for (auto next = blocks.begin(); next != blocks.end();) {
    auto& pending = **next++;
    const auto reads = [&](const at::Tensor& read) { return read.is_alias_of(block); };
    if (std::ranges::any_of(pending.formula.blocks(), reads)) compute_now(pending);
  }
}

bool is_pending(const at::Tensor& block) {
  if (pending_count.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(all().mutex);
  return pending_of(block) != nullptr;
}

/// The memory of a block that is read while it is computed. When all elements have been read, the block gets it.
class Reading::Kept {
 public:
  explicit Kept(Pending& pending)
      : pending_(&pending), memory_(pending), left_(c10::multiply_integers(pending.formula.shape())) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    if (left_ == 0) memory_.give_to(*pending_);
  }
  /// Returns the place of elements first .. last, which are computed next.
  [[nodiscard]] void* place(std::int64_t first, std::int64_t last) {
    left_ -= last - first;
    return static_cast<std::byte*>(memory_.get()) + first * bytes_of(pending_->formula.nodes().back().type);
  }

 private:
  Pending* pending_;
  Memory memory_;
  std::int64_t left_;
};

std::optional<Reading> Reading::of(const at::Tensor& block) {
  if (pending_count.load(std::memory_order_acquire) == 0) return std::nullopt;
  std::unique_lock lock(all().mutex);
  auto* const pending = pending_of(block);
  if (!pending || pending->reduced || !is_sole(block)) return std::nullopt;
  const auto& formula = pending->formula;
  const auto in_order = [](const at::Tensor& read) { return read.is_contiguous(); };
  if (!std::ranges::all_of(formula.blocks(), in_order)) return std::nullopt;
  const bool slow = std::ranges::any_of(formula.nodes(), [](const Node& node) { return is_of_torch(node.op); });
  auto kept = slow ? std::make_shared<Kept>(*pending) : nullptr;
  pending->reduced = true;
  return Reading(std::move(lock), formula, std::move(kept));
}

const void* Reading::read(std::int64_t first, std::int64_t last, void* buffer) const {
  auto* const place = kept_ ? kept_->place(first, last) : buffer;
  evaluation_.run(first, last, place);
  return place;
}

at::Tensor given_away(const at::Tensor& block) {
  const auto& storage = block.storage();
  if (!block.is_cpu() || !is_own(block)) return block;
  at::DataPtr memory(storage.data_ptr().get(), new at::Tensor(block), &release_given, block.device());
  const c10::Storage given(c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(memory), nullptr, false);
  return at::empty({0}, block.options()).set_(given, block.storage_offset(), block.sizes(), block.strides());
}

const at::Tensor* given_block(const at::Tensor& block) {
  const auto& memory = block.storage().data_ptr();
  return memory.get_deleter() == &release_given ? static_cast<const at::Tensor*>(memory.get_context()) : nullptr;
}

bool is_worthwhile(std::span<const at::Tensor> blocks) {
  const auto is_large = [](const at::Tensor& block) { return block.numel() >= fewest; };
  return std::ranges::any_of(blocks, is_large) && enabled().load(std::memory_order_relaxed);
}

std::optional<at::Tensor> fuse(const char* call, std::span<const at::Tensor> blocks, const Build& build) {
  auto shape = common_shape(blocks);
  const std::lock_guard lock(all().mutex);
  if (!std::ranges::all_of(blocks, [&](const at::Tensor& block) { return fits(block, shape); })) return std::nullopt;
  compute_some(blocks);
  const auto is_numbers = [](const at::Tensor& block) { return block.numel() == 1; };
  const auto stays = [&](const at::Tensor& block) { return is_numbers(block) || pending_of(block) || is_own(block); };
  const bool later = std::ranges::all_of(blocks, stays);
  const bool any_pending = std::ranges::any_of(blocks, [](const auto& block) { return pending_of(block) != nullptr; });
  if (!later && !any_pending) return std::nullopt;
  auto formula = built(call, blocks, std::move(shape), build);
  if (!formula) return std::nullopt;
  auto block = new_pending(*std::move(formula));
  if (!later) compute(block);
  return block;
}

bool fuse_into(const char* call, std::span<const at::Tensor> blocks, const Build& build) {
  const auto& out = blocks[0];
  const std::lock_guard lock(all().mutex);
  if (!pending_of(blocks[1]) || blocks[0].sizes() != blocks[1].sizes() || !out.is_contiguous() ||
      !std::ranges::all_of(blocks, [&](const at::Tensor& block) { return fits(block, out.sizes()); }))
    return false;
  const auto formula = built(call, blocks, out.sizes().vec(), build);
  if (!formula || to_torch(formula->nodes().back().type) != out.scalar_type()) return false;
  run(*formula, out.data_ptr());
  return true;
}

}  // namespace heatpp::detail::fused

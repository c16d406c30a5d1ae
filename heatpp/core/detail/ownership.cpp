#include <heatpp/core/detail/ownership.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/adopt.hpp>
#include <heatpp/core/detail/fused/pending.hpp>

#include <algorithm>
#include <mutex>

namespace heatpp::detail {
namespace {

using Impl = DNDarray::Impl;

class HostMemory;
HostMemory* host_memory_of(const at::Tensor& block);

/// Whether an array is written where its block is.
bool stays(const Impl& impl) { return impl.ownership >= Ownership::lent; }

/// Memory of a host, and the arrays that share it.
class HostMemory {
 public:
  explicit HostMemory(at::Tensor block) : block_(std::move(block)) {}

  void add(const std::shared_ptr<Impl>& impl) {
    const std::lock_guard lock(mutex_);
    if (arrays_.size() >= prune_at_) {
      std::erase_if(arrays_, [](const auto& array) { return array.expired(); });
      prune_at_ = 2 * arrays_.size() + 16;
    }
    arrays_.push_back(impl);
  }

  /// Gives all arrays except those that are written here elements of their own.
  void separate() {
    const std::lock_guard lock(mutex_);
    for (const auto& array : arrays_)
      if (const auto impl = array.lock(); impl && !stays(*impl) && host_memory_of(impl->local) == this)
        impl->local = impl->local.clone();
    std::erase_if(arrays_, [](const auto& array) {
      const auto impl = array.lock();
      return !impl || !stays(*impl);
    });
  }

 private:
  at::Tensor block_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Impl>> arrays_;
  std::size_t prune_at_ = 16;
};

void release(void* memory) { delete static_cast<HostMemory*>(memory); }

HostMemory* host_memory_of(const at::Tensor& block) {
  const auto& pointer = block.storage().data_ptr();
  return pointer.get_deleter() == &release ? static_cast<HostMemory*>(pointer.get_context()) : nullptr;
}

/// Whether arrays other than `x`, and `reader` if it is not used afterwards, hold its elements.
bool are_shared(const std::shared_ptr<Impl>& impl, const DNDarray* reader) {
  const auto& block = impl->local;
  std::size_t tensors = 1;  // handles of the block
  std::size_t views = 1;    // blocks in its memory
  if (reader && Access::impl(*reader) != impl) {
    const auto& other = Access::impl(*reader)->local;
    const bool temporary = Access::impl(*reader).use_count() == 1;
    if (temporary && other.is_same(block)) ++tensors;
    else if (temporary && other.use_count() == 1 && other.is_alias_of(block)) ++views;
  }
  if (const auto* given = fused::given_block(block); given && !is_sole(*given)) return true;
  return block.use_count() > tensors || block.storage().use_count() > views;
}

}  // namespace

Sharing sharing_of(const DNDarray& x, const DNDarray* reader) {
  const auto& impl = Access::impl(x);
  const long handles = 1 + (reader && Access::impl(*reader) == impl ? 1 : 0);
  if (impl->ownership == Ownership::shared && impl.use_count() > handles) return Sharing::array;
  return are_shared(impl, reader) ? Sharing::elements : Sharing::none;
}

Unwritten::Unwritten(const DNDarray& x)
    : impl_(Access::impl(x)), block_(x.larray().unsafeGetTensorImpl()), version_(x.larray()._version()) {}

bool Unwritten::are_in(const DNDarray& x) const {
  const auto& block = x.larray();
  if (block.unsafeGetTensorImpl() == block_) return block._version() == version_;
  // Before memory of a host is written, arrays that share it get a block of their own, which nobody has written to.
  return impl_.lock() == Access::impl(x) && block._version() == 0;
}

std::shared_ptr<Impl> sharing(Impl given) {
  auto impl = std::make_shared<Impl>(std::move(given));
  if (auto* memory = host_memory_of(impl->local)) memory->add(impl);
  return impl;
}

const std::shared_ptr<Impl>& pin(DNDarray& x) {
  static_cast<void>(x.layout());  // throws for an array without elements
  auto& impl = Access::impl(x);
  if (impl->ownership != Ownership::shared) return impl;
  if (impl.use_count() > 1) impl = sharing({impl->local, impl->layout, impl->comm});
  impl->ownership = Ownership::single;
  return impl;
}

at::Tensor as_host_memory(const at::Tensor& block) {
  const auto& storage = block.storage();
  auto memory = std::make_unique<HostMemory>(block);
  at::DataPtr pointer(storage.data_ptr().get(), memory.get(), &release, block.device());
  static_cast<void>(memory.release());
  const at::Storage own(at::Storage::use_byte_size_t(), storage.nbytes(), std::move(pointer), nullptr, false);
  return at::empty({0}, block.options()).set_(own, block.storage_offset(), block.sizes(), block.strides());
}

void own(const char* op, DNDarray& x, const DNDarray* reader) {
  const auto& block = x.larray();
  auto& impl = Access::impl(x);
  if (impl->ownership == Ownership::read_only)
    raise<ValueError>(op,
                      "got an array of shape {} in memory that came read-only, or with elements in one place; "
                      "expected memory to write to",
                      to_string(x.shape()));
  auto* const memory = host_memory_of(block);
  if (stays(*impl)) {
    if (memory) memory->separate();
    return;
  }
  fused::before_write(block);
  const bool stretched = !block.is_non_overlapping_and_dense() && may_overlap(block);
  const auto sharing = sharing_of(x, reader);
  if (sharing == Sharing::array) impl = std::make_shared<Impl>(Impl{block.clone(), impl->layout, impl->comm});
  else if (stretched || memory || sharing == Sharing::elements)
    impl->local = block.clone();  // a host's: not adopted by x
  // This happens also on ranks that write nothing, so that all know that a selection is out of date.
  impl->local.unsafeGetTensorImpl()->bump_version();
}

void lend(const char* op, DNDarray& x) {
  own(op, x);
  if (host_memory_of(x.larray())) return;  // already adopted or lent
  const auto& impl = pin(x);
  impl->local = as_host_memory(impl->local);
  impl->ownership = std::max(impl->ownership, Ownership::lent);
}

DNDarray written_through(DNDarray part) {
  auto& ownership = pin(part)->ownership;
  ownership = std::max(ownership, Ownership::in_place);
  return part;
}

}  // namespace heatpp::detail

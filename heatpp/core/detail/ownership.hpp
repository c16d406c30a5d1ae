#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Access to what an array consists of.
struct Access {
  [[nodiscard]] static std::shared_ptr<DNDarray::Impl>& impl(DNDarray& x) { return x.impl_; }
  [[nodiscard]] static const std::shared_ptr<DNDarray::Impl>& impl(const DNDarray& x) { return x.impl_; }
};

/// Who may write to the elements of an Impl. Each state has what those before it have, too.
enum class Ownership : std::uint8_t {
  shared,    ///< its arrays, until one of them writes: that one takes a copy
  single,    ///< one array; copies of the array get an Impl of their own
  lent,      ///< others also, in its block, which stays in place
  in_place,  ///< the array always in its block: memory of a host, or a part of an array that is being written
  read_only  ///< nobody: memory of a host
};

/// What refers to the elements of an array besides the array itself.
enum class Sharing {
  none,      ///< nothing
  elements,  ///< other arrays, views or tensors in the same memory
  array      ///< copies of the array, which have the same Impl
};
/// Returns what refers to the elements of `x`. A caller's `reader` does not count if it is not used afterwards.
/// Computes nothing: the elements may be pending.
[[nodiscard]] Sharing sharing_of(const DNDarray& x, const DNDarray* reader = nullptr);

/// Whether at most `handles` handles of the block, and no others, refer to its memory.
[[nodiscard]] inline bool is_sole(const at::Tensor& block, std::size_t handles = 1) {
  return block.use_count() <= handles && block.storage().use_count() == 1;
}
/// Whether the caller alone has the array and `handles` handles of its block, so that the memory may be used again.
[[nodiscard]] inline bool is_sole(const DNDarray& x, std::size_t handles) {
  const auto& impl = Access::impl(x);
  return impl.use_count() == 1 && is_sole(impl->local, handles);
}

/// Recognizes the elements of an array until somebody writes to them.
class Unwritten {
 public:
  explicit Unwritten(const DNDarray& x);
  /// Whether `x` has these elements, and nobody has written to them.
  [[nodiscard]] bool are_in(const DNDarray& x) const;

 private:
  std::weak_ptr<DNDarray::Impl> impl_;
  const void* block_;
  std::int64_t version_;  // of the block's elements
};

/// Makes an Impl for elements that other arrays may share. In a host's memory, these are told before a write.
[[nodiscard]] std::shared_ptr<DNDarray::Impl> sharing(DNDarray::Impl impl);

/// Gives `x` an Impl that its copies do not share, for code that has to find it again.
const std::shared_ptr<DNDarray::Impl>& pin(DNDarray& x);

/// Returns `block` as memory of a host. The tensor keeps it, and arrays that share it are found by it.
[[nodiscard]] at::Tensor as_host_memory(const at::Tensor& block);

/// Makes sure that a write to the block of `x` changes no other array: it takes a copy if others share its elements,
/// and if the block is memory of a host, it gives them a copy. `reader` is an array that the caller will read, or
/// nullptr: a temporary that shares the elements and is not used afterwards does not count. The caller is responsible
/// if it reads and writes elements in one pass. Local. Throws ValueError that names `op` for memory that is
/// read-only.
void own(const char* op, DNDarray& x, const DNDarray* reader = nullptr);

/// Lets others write to the block of `x`, which stays in place as long as `x` has it. A write to `x` shows there, and
/// arrays that share the elements get their own before. Unlike adopted memory it does not restrict assignment, so ranks
/// need not lend together. Local. Throws as own.
void lend(const char* op, DNDarray& x);

/// Returns a part of `x` that is written in the memory of `x`, which the caller owns.
[[nodiscard]] DNDarray written_through(DNDarray part);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Access to what an array consists of.
struct Access {
  [[nodiscard]] static std::shared_ptr<DNDarray::Impl>& impl(DNDarray& x) { return x.impl_; }
  [[nodiscard]] static const std::shared_ptr<DNDarray::Impl>& impl(const DNDarray& x) { return x.impl_; }
};

/// Whether no other array, view or tensor refers to the array's Impl.
[[nodiscard]] inline bool is_sole_handle(const DNDarray& x) { return Access::impl(x).use_count() == 1; }

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

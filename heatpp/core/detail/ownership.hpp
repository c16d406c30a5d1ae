#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// What lies behind an array.
struct Access {
  [[nodiscard]] static std::shared_ptr<DNDarray::Impl>& impl(DNDarray& x) { return x.impl_; }
  [[nodiscard]] static const std::shared_ptr<DNDarray::Impl>& impl(const DNDarray& x) { return x.impl_; }
};

/// Whether no other array, view or tensor refers to the array's Impl.
[[nodiscard]] inline bool is_sole_handle(const DNDarray& x) { return Access::impl(x).use_count() == 1; }

/// An Impl for elements that other arrays may share. Those in memory of a host are told before that is written to.
[[nodiscard]] std::shared_ptr<DNDarray::Impl> sharing(DNDarray::Impl impl);

/// Gives `x` an Impl that copies of it do not share, for whoever has to find it again.
const std::shared_ptr<DNDarray::Impl>& pin(DNDarray& x);

/// `block` as memory of a host's, which the tensor keeps: arrays that share it are found by it.
[[nodiscard]] at::Tensor as_host_memory(const at::Tensor& block);

/// Makes sure that writing to the block of `x` changes no other array: takes a copy of it where others share its
/// elements, and gives them a copy where it is memory of a host's. `reader` is what the caller is about to read, or
/// nullptr: a temporary that shares the elements, and that nobody sees afterwards, does not count. Whoever writes has
/// to look after elements that are read and written in one go. Local. Throws ValueError that names `op` for memory that
/// is read-only.
void own(const char* op, DNDarray& x, const DNDarray* reader = nullptr);

/// Lets others write to the block of `x`, which stays where it is as long as `x` has it: writing to `x` shows there,
/// and what shares the elements is given its own before. Other than adopted memory it holds no assignment up, so that
/// ranks need not lend together. Local. Throws as own.
void lend(const char* op, DNDarray& x);

/// A part of `x` that is written in the memory of `x`, which the caller owns.
[[nodiscard]] DNDarray written_through(DNDarray part);

}  // namespace heatpp::detail

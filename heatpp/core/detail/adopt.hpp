#pragma once

#include <functional>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>

namespace heatpp::detail {

/// Memory for this rank's block.
struct LocalBlock {
  at::Tensor data;
  bool writable = true;
};

/// The array of the blocks that make() returns on the ranks, writable where all of them are and no elements overlap. An
/// error of make() on one rank is thrown on all. One allreduce of 1080 bytes, and 16 for each rank if split.
[[nodiscard]] DNDarray adopt(const LocalOptions& options, const std::function<LocalBlock()>& make);

/// A tensor as a block may be, without its gradient. Throws TypeError for dtypes, layouts and devices that heatpp has
/// not.
[[nodiscard]] at::Tensor adoptable(const char* op, const at::Tensor& tensor);

/// Throws ValueError for what LibTorch would read wrongly, or end the program for: negative strides, where they count,
/// and blocks larger than any memory. Without strides: in C order.
void check_strides(const char* op, const Shape& shape, const std::optional<Shape>& strides);

/// Whether two elements may have the same place in memory.
[[nodiscard]] bool may_overlap(const at::Tensor& block);

}  // namespace heatpp::detail

#pragma once

#include <functional>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>

namespace heatpp::detail {

/// Memory of this rank's block.
struct LocalBlock {
  at::Tensor data;
  bool writable = true;
};

/// Makes an array of the blocks that make() returns on the ranks. It is writable if all blocks are and no elements
/// overlap. An error of make() on one rank is thrown on all. One allreduce of 1096 bytes, and
/// layout_of_blocks() if split, or an allgather of the shapes on a grid.
[[nodiscard]] DNDarray adopt(const LocalOptions& options, const std::function<LocalBlock()>& make);

/// Returns the cut into the blocks of all ranks, of which this rank's has `shape`. Every rank knows whether it holds
/// what an even cut gives it. Only if one does not, the counts of all are gathered. Collective: a place in the whole,
/// an allreduce of 8 bytes, and an allgather of a number if the cut is uneven.
[[nodiscard]] Layout layout_of_blocks(Shape shape, int split, const Communicator& comm);

/// Returns a tensor that can be a block, without its gradient. Throws TypeError for dtypes, layouts and devices that
/// heatpp does not have.
[[nodiscard]] at::Tensor adoptable(const char* op, const at::Tensor& tensor);

/// Throws ValueError for what LibTorch would read wrongly or end the program for: negative strides, if they matter, and
/// blocks larger than any memory. Without strides: in C order.
void check_strides(const char* op, const Shape& shape, const std::optional<Shape>& strides);

/// Whether two elements may overlap in memory.
[[nodiscard]] bool may_overlap(const at::Tensor& block);

}  // namespace heatpp::detail

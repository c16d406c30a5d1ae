#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// make(), which gives this rank's block under `layout`. Throws MemoryError, on all ranks, where one of them has no
/// memory for its block. Blocks of 64 MiB and more, on the rank with the largest one, cost an allreduce of 8 bytes for
/// that; smaller ones nothing, and a rank that has not even memory for those throws alone.
[[nodiscard]] at::Tensor allocated(const char* op, const Layout& layout, at::TensorOptions options,
                                   const Communicator& comm, const std::function<at::Tensor()>& make);

/// make(), with MemoryError naming the sizes for what LibTorch or the system throws.
[[nodiscard]] at::Tensor block_or_error(const char* op, const Shape& shape, const std::function<at::Tensor()>& make);

}  // namespace heatpp::detail

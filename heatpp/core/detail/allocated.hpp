#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns make(), this rank's block under `layout`. Throws MemoryError on all ranks if one of them has no memory for
/// its block. This costs an allreduce of 8 bytes if the largest block has 64 MiB or more. For smaller blocks it costs
/// nothing, and a rank without memory throws alone.
[[nodiscard]] at::Tensor allocated(const char* op, const Layout& layout, at::TensorOptions options,
                                   const Communicator& comm, const std::function<at::Tensor()>& make);

/// Returns make(). Errors of LibTorch or the system become a MemoryError that names the sizes.
[[nodiscard]] at::Tensor block_or_error(const char* op, const Shape& shape, const std::function<at::Tensor()>& make);

}  // namespace heatpp::detail

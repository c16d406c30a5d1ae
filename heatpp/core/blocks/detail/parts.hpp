#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// For each rank, parts of arrays as tensors on the CPU, where they lie.
using Parts = std::vector<std::vector<at::Tensor>>;

/// What this rank has in `send` for each rank arrives where that one has as many elements in `receive`. Parts may lie
/// at any strides: single ones that are runs at one stride are not packed. One exchange, without messages about sizes.
void exchange_parts(const Parts& send, const Parts& receive, const Communicator& comm);

}  // namespace heatpp::detail

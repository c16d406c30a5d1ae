#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// The parts of arrays for each rank, as tensors on the CPU, in place.
using Parts = std::vector<std::vector<at::Tensor>>;

/// Sends this rank's parts in `send` for each rank to that rank, which has as many elements in `receive`. Parts may lie
/// at any strides; a single part of runs at one stride is not packed. One exchange, without messages about sizes.
void exchange_parts(const Parts& send, const Parts& receive, const Communicator& comm);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/detail/cuts/boxes.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns the part of `block` that is in `box`; the block's elements begin at `origin`. Shares memory.
[[nodiscard]] at::Tensor part_in_box(at::Tensor block, const Shape& origin, const Box& box);

/// The parts of arrays for a rank, as tensors on the CPU, in place.
struct PeerParts {
  int rank;
  std::vector<at::Tensor> tensors;
};
/// The parts for the ranks that get or give some, each once.
using Parts = std::vector<PeerParts>;

/// Sends this rank's parts in `send` for each rank to that rank, which has as many elements in `receive`. Parts may lie
/// at any strides; a single part of runs at one stride is not packed. One exchange, without messages about sizes, and
/// nothing for ranks that are in no list.
void exchange_parts(const Parts& send, const Parts& receive, const Communicator& comm);

}  // namespace heatpp::detail

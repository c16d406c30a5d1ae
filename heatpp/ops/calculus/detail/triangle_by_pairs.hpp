#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns the triangle R of the rows of all ranks, on every rank. `mine` has n columns and at most n rows on this
/// rank, and is on the CPU. Two ranks join their triangles, two pairs theirs, and so on. Collective: an exchange of n^2
/// elements on each of log2 P levels, and a broadcast of them.
[[nodiscard]] at::Tensor triangle_by_pairs(const at::Tensor& mine, const Communicator& comm);

}  // namespace heatpp::detail

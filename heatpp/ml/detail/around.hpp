#pragma once

#include <heatpp/ml/detail/pieces.hpp>

// All ranks' rows on every rank, a block at a time.
namespace heatpp::ml::detail {

/// This rank's rows in one C-ordered block on the CPU. Local.
[[nodiscard]] at::Tensor block_of(const Rows& rows, Dtype dtype);

/// Calls f(block, first) with every rank's block of `mine`, cut along axis 0 as `layout` says, and the global number of
/// its first row: this rank's own at first, the others' while the next one travels; once with `mine` where all ranks
/// have it. Collective: blocks go round the ring, P - 1 messages of what is in the blocks of all ranks but one. What
/// one rank's f throws all throw, after an all-reduce of 8 bytes.
using VisitRows = std::function<void(const at::Tensor& block, std::int64_t first)>;
void around(const at::Tensor& mine, const Layout& layout, const Communicator& comm, const VisitRows& f);

}  // namespace heatpp::ml::detail

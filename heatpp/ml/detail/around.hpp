#pragma once

#include <heatpp/ml/detail/pieces.hpp>

// Access to all ranks' rows on every rank, one block at a time.
namespace heatpp::ml::detail {

/// Returns this rank's rows in one C-ordered block on the CPU. Local.
[[nodiscard]] at::Tensor block_of(const Rows& rows, Dtype dtype);

/// Calls f(block, first) with every rank's block of `mine`, cut along axis 0 as `layout` says, and the global number of
/// its first row: first this rank's own block, then the others, each while the next one travels. Calls f once with
/// `mine` if all ranks hold it. Collective: blocks go around the ring in P - 1 messages, which carry the blocks of all
/// ranks but one. An all-reduce of 8 bytes at the end throws an error of f on one rank on all.
using VisitRows = std::function<void(const at::Tensor& block, std::int64_t first)>;
void around(const at::Tensor& mine, const Layout& layout, const Communicator& comm, const VisitRows& f);

}  // namespace heatpp::ml::detail

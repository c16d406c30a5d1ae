#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// The block of `x` that this rank holds under `target`, a layout of the same shape. Shares memory with `x` where no
/// element has to move.
[[nodiscard]] at::Tensor relayout(const DNDarray& x, const Layout& target);
/// The same as an array. For what a function recuts by its contract, and for arrays of its own making.
[[nodiscard]] DNDarray brought_to(const DNDarray& x, const Layout& target);

/// `from` recut so that rank r holds counts[r] indices of its split axis. Collective: one all-reduce of 16 bytes.
/// Throws ValueError on all ranks where it is not cut, and for counts that do not add up or differ by rank.
[[nodiscard]] Layout agreed_layout(const char* op, const Layout& from, const std::vector<std::int64_t>& counts,
                                   const Communicator& comm);

/// Bytes that cross between ranks when an array of `bytes_each`-byte elements goes from one layout to the other.
[[nodiscard]] std::int64_t relayout_cost(const Layout& from, const Layout& to, std::int64_t bytes_each);

/// Throws CommError where two operands are not on the same ranks in the same order.
void check_same_comm(const char* op, const Communicator& a, const Communicator& b);

/// Throws ValueError where two operands are on different devices: what moves them is the caller's to say.
void check_same_device(const char* op, const DNDarray& a, const DNDarray& b);

/// relayout for an operand of the caller whose layout does not fit its partner's, which is on `comm`: counted, and
/// refused under the strict policy.
[[nodiscard]] at::Tensor relayout_operand(const char* op, const DNDarray& x, const Layout& target,
                                          const Communicator& comm);

/// Whether operands may move: not under the strict policy.
[[nodiscard]] bool operands_may_move();

}  // namespace heatpp::detail

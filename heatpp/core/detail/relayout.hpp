#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns the block of `x` that this rank holds under `target`, a layout of the same shape. Shares memory with `x` if
/// no element has to move.
[[nodiscard]] at::Tensor relayout(const DNDarray& x, const Layout& target);
/// Returns the array under `target`. For recuts by a function's contract, and for arrays of its own.
[[nodiscard]] DNDarray brought_to(const DNDarray& x, const Layout& target);

/// Recuts `from` so that rank r holds counts[r] indices of its split axis. Collective: one all-reduce of 16 bytes.
/// Throws ValueError on all ranks if it is not cut, and for counts that do not add up or differ by rank.
[[nodiscard]] Layout agreed_layout(const char* op, const Layout& from, const std::vector<std::int64_t>& counts,
                                   const Communicator& comm);

/// Returns the bytes that cross between ranks from one layout to the other, with `bytes_each` bytes an element.
[[nodiscard]] std::int64_t relayout_cost(const Layout& from, const Layout& to, std::int64_t bytes_each);

/// Throws CommError unless two operands are on the same ranks in the same order.
void check_same_comm(const char* op, const Communicator& a, const Communicator& b);

/// Throws ValueError if two operands are on different devices: the caller has to say what moves.
void check_same_device(const char* op, const DNDarray& a, const DNDarray& b);

/// Does relayout for an operand whose layout does not fit its partner's, which is on `comm`. This is counted, and
/// refused under the strict policy.
[[nodiscard]] at::Tensor relayout_operand(const char* op, const DNDarray& x, const Layout& target,
                                          const Communicator& comm);

/// Returns `x`. If it is on a grid, it is cut evenly along its longest axis, for a function that takes one cut: the
/// recut is counted, and refused under the strict policy.
[[nodiscard]] DNDarray one_cut(const char* op, const DNDarray& x);

/// Whether operands may move: not under the strict policy.
[[nodiscard]] bool operands_may_move();

}  // namespace heatpp::detail

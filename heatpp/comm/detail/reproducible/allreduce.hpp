#pragma once

#include <functional>
#include <heatpp/comm/detail/progress/operation.hpp>

namespace heatpp::detail {

/// Whether HEATPP_REPRODUCIBLE asks for exact sums.
[[nodiscard]] bool wants_exact_sums(const Communicator& comm);
/// Whether the result of a reduction depends on the order and it has an exact form.
[[nodiscard]] bool has_exact_sum(ReduceOp op, Dtype dtype);

/// Makes an all-reduce that sums the contributions of all ranks at once, or in parts.
struct ExactMakers {
  std::function<std::unique_ptr<Operation>(Buffer data, ReduceOp op)> at_once;  ///< empty: all send more bytes
  std::function<std::unique_ptr<Operation>(Buffer wide, ReduceOp op)> in_parts;
};
/// Computes the exact sum of floating-point or complex numbers over all ranks, rounded once, or the mean. Partial sums
/// take twice the bytes. Numbers that do not fit them are sent again, in the order of the ranks.
[[nodiscard]] std::unique_ptr<Operation> exact_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                         const ExactMakers& makers);

}  // namespace heatpp::detail

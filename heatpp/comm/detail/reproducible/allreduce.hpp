#pragma once

#include <functional>
#include <heatpp/comm/detail/progress/operation.hpp>

namespace heatpp::detail {

/// Whether HEATPP_REPRODUCIBLE asks for exact sums.
[[nodiscard]] bool wants_exact_sums(const Communicator& comm);
/// Whether a reduction depends on the order of what is reduced, and has an exact form.
[[nodiscard]] bool has_exact_sum(ReduceOp op, Dtype dtype);

/// An all-reduce by an algorithm that sums the contributions of all ranks at once, or in parts.
struct ExactMakers {
  std::function<std::unique_ptr<Operation>(Buffer data, ReduceOp op)> at_once;  ///< empty: none does without more bytes
  std::function<std::unique_ptr<Operation>(Buffer wide, ReduceOp op)> in_parts;
};
/// The exact sum of floating or complex numbers over all ranks, rounded once, or that divided by the number of ranks.
/// Sums of parts take twice the bytes. What does not fit them is sent again, in the order of the ranks.
[[nodiscard]] std::unique_ptr<Operation> exact_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                         const ExactMakers& makers);

}  // namespace heatpp::detail

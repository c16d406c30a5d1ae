#pragma once

#include <heatpp/comm/detail/reproducible/exact_sum.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp::detail {

/// Whether floating or complex numbers are summed exactly: if `asked`, or if HEATPP_REPRODUCIBLE says so.
[[nodiscard]] bool sums_exactly(const Communicator& comm, Dtype dtype, bool asked);

/// Do `sum` and `mean` of such numbers, with errors that name `op`: sums are exact, and rounded once. If the split axis
/// is reduced, two allreduces: of 24 bytes, and of 8 for each result and 60 bits or so that the digits of all sums
/// span.
[[nodiscard]] DNDarray exact_sum(const char* op, const DNDarray& x, const ReduceOptions& options);
[[nodiscard]] DNDarray exact_mean(const char* op, const DNDarray& x, const ReduceOptions& options);

/// Returns the nearest number of the dtype; a complex one has two such parts.
[[nodiscard]] double rounded_to(Dtype dtype, ExactSum& sum);

}  // namespace heatpp::detail

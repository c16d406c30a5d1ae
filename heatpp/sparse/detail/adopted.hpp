#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/sparse/detail/impl.hpp>

#include <functional>

namespace heatpp::sparse::detail {

/// Makes the matrix of the rows that make() returns on the ranks, in place, with the checks and errors of from_local.
/// An error of make() on one rank is thrown on all.
[[nodiscard]] DCSRMatrix adopted_rows(const std::function<CsrBlock()>& make, std::int64_t columns,
                                      const LocalOptions& options);

}  // namespace heatpp::sparse::detail

#pragma once

#include <heatpp/sparse/detail/fetched.hpp>

namespace heatpp::sparse::detail {

/// Computes the rows of a as sums of rows of b: columns of a, int64, are rows of b. Both have values of one dtype that
/// has kernels. Columns of the result increase. An element is summed in the order of a's entries. Local.
[[nodiscard]] CsrBlock gustavson(const CsrBlock& a, const RowBlocks& b, std::int64_t columns);

}  // namespace heatpp::sparse::detail

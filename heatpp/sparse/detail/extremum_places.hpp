#pragma once

#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp::sparse::detail {

/// Returns the first column of the largest, or smallest, element in each of the block's rows, which have `columns` real
/// elements each, 0 without an entry. NaN wins.
[[nodiscard]] at::Tensor extremum_places(const CsrBlock& block, std::int64_t columns, bool largest);

}  // namespace heatpp::sparse::detail

#pragma once

#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp::sparse::detail {

/// The first column of the largest, or smallest, element in each of the block's rows, of `columns` elements each, which
/// are 0 without an entry; of real numbers. NaN wins.
[[nodiscard]] at::Tensor extremum_places(const CsrBlock& block, std::int64_t columns, bool largest);

}  // namespace heatpp::sparse::detail

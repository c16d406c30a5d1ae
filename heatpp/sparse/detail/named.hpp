#pragma once

#include <heatpp/sparse/detail/impl.hpp>

// The columns that entries name, of which this rank has some: first, ..., first + own - 1.
namespace heatpp::sparse::detail {

/// Those that it has not, in their order.
[[nodiscard]] std::vector<std::int64_t> named_of_others(const at::Tensor& columns, std::int64_t first,
                                                        std::int64_t own);
/// Columns as places, of `type`, in what this rank has and then in `ids`, those of others.
[[nodiscard]] at::Tensor renumbered(const at::Tensor& columns, std::int64_t first, std::int64_t own,
                                    const std::vector<std::int64_t>& ids, at::ScalarType type);

}  // namespace heatpp::sparse::detail

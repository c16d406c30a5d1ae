#pragma once

#include <heatpp/sparse/detail/impl.hpp>

// The columns that entries name; this rank has first, ..., first + own - 1.
namespace heatpp::sparse::detail {

/// Returns those that it does not have, in their order.
[[nodiscard]] std::vector<std::int64_t> named_of_others(const at::Tensor& columns, std::int64_t first,
                                                        std::int64_t own);
/// Returns columns as places, of `type`: in this rank's own, then in `ids`, those of others.
[[nodiscard]] at::Tensor renumbered(const at::Tensor& columns, std::int64_t first, std::int64_t own,
                                    const std::vector<std::int64_t>& ids, at::ScalarType type);

}  // namespace heatpp::sparse::detail

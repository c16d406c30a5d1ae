#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Does select_in_columns for any positions, by histograms of one digit after another: first of all elements, then of
/// those that still fit. One allreduce a digit.
template <class T>
[[nodiscard]] std::vector<T> select_by_digits(const T* block, std::int64_t rows, std::int64_t columns,
                                              std::span<const std::int64_t> positions, const Communicator& comm);

}  // namespace heatpp::detail

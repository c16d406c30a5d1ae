#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// select_in_columns for any positions: with histograms of one digit after the other, the first time of all elements
/// and then of those that still fit. One allreduce a digit.
template <class T>
[[nodiscard]] std::vector<T> select_by_digits(const T* block, std::int64_t rows, std::int64_t columns,
                                              std::span<const std::int64_t> positions, const Communicator& comm);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Returns the elements at each of `positions` of the sorted columns of the matrix, NaN last; every column has the
/// same number of rising positions. Every rank holds `rows` elements of each column, column by column; all ranks hold
/// n. Results and positions lie column by column, too. T is a type of AT_DISPATCH_ALL_TYPES. One allreduce a digit.
/// If positions and long columns are few, a sample is searched first. It bounds the elements that need a second look,
/// as Floyd and Rivest (1975) do, with as many allreduces again, and once more for each bound. Collective over
/// `comm`.
template <class T>
[[nodiscard]] std::vector<T> select_in_columns(const T* block, std::int64_t rows, std::int64_t columns, std::int64_t n,
                                               std::span<const std::int64_t> positions, const Communicator& comm);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// The elements that would stand at each of `positions`, as many for every column and rising, if the columns of the
/// matrix were sorted, NaN last. Every rank holds `rows` elements of each column, column by column, all ranks n;
/// results and positions lie column by column too. T is a type of AT_DISPATCH_ALL_TYPES. One allreduce a digit; few
/// positions in few long columns are first looked for in a sample, which bounds the elements that are worth more than
/// one look, as Floyd and Rivest (1975) do, with as many allreduces again and for each of the bounds. Collective over
/// `comm`.
template <class T>
[[nodiscard]] std::vector<T> select_in_columns(const T* block, std::int64_t rows, std::int64_t columns, std::int64_t n,
                                               std::span<const std::int64_t> positions, const Communicator& comm);

}  // namespace heatpp::detail

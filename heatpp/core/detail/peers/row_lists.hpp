#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// How many rows go to a rank, or come from it.
struct RowsOfRank {
  int rank;
  std::int64_t count;
};

/// Sends the first rows of `rows` (a tensor on the CPU, cut along axis 0) to the first rank of `send`, the next ones to
/// the next. Returns the rows that arrive, in the order of `receive`. Each rank is at most once in a list; those in no
/// list take no memory. One exchange.
[[nodiscard]] at::Tensor exchange_rows(const at::Tensor& rows, std::span<const RowsOfRank> send,
                                       std::span<const RowsOfRank> receive, const Communicator& comm);

/// Does so for send[r] rows to rank r and receive[r] rows from it, if most ranks have rows for most others.
/// `most_rows`, equal on all ranks, is what the busiest rank sends or gets at most.
[[nodiscard]] at::Tensor exchange_rows_among_all(const at::Tensor& rows, std::span<const std::int64_t> send,
                                                 std::span<const std::int64_t> receive, std::int64_t most_rows,
                                                 const Communicator& comm);

}  // namespace heatpp::detail

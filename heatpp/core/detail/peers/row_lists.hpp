#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// How many rows go to a rank, or come from it. A list of these has the ranks with rows, in rising order.
struct RowsOfRank {
  int rank;
  std::int64_t count;
  friend bool operator==(const RowsOfRank&, const RowsOfRank&) = default;
};

/// Returns the list of counts[r] rows for each rank r.
[[nodiscard]] std::vector<RowsOfRank> rows_of_ranks(std::span<const std::int64_t> counts);
/// Returns how many of the indices, which rise, each rank holds. Takes time for the indices and the ranks that hold
/// any.
[[nodiscard]] std::vector<RowsOfRank> rows_of_owners(std::span<const std::int64_t> indices, const Cut& cut);

/// Tells each rank in the list how many rows this one has for it. Returns how many each has for this one. Collective.
/// Up to 1024 ranks, and if any rank has rows for many: an alltoall of a number. Otherwise `told_in_rounds`, so that
/// nothing is held or sent for ranks without rows; an all-reduce of 8 bytes finds which.
[[nodiscard]] std::vector<RowsOfRank> told(const std::vector<RowsOfRank>& sent, const Communicator& comm);
/// Does so by parcels of 24 bytes, in log2 P rounds. Collective.
[[nodiscard]] std::vector<RowsOfRank> told_in_rounds(const std::vector<RowsOfRank>& sent, const Communicator& comm);

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

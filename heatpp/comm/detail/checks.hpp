#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <span>

namespace heatpp::detail {

/// Throws ValueError unless there is a count for each rank, none is negative, and their sum is `total`.
void check_counts(const char* op, const Communicator& comm, std::span<const std::int64_t> counts, std::int64_t total);
/// Throws ValueError for a root that is no rank of the communicator.
void check_root(const char* op, const Communicator& comm, int root);

/// Returns the ranges of parts of these counts, one behind another.
[[nodiscard]] std::vector<Range> parts_of(std::span<const std::int64_t> counts);

/// Returns the operation's name, as "sum".
[[nodiscard]] const char* op_name(ReduceOp op);

/// Puts this rank's part in its place. Returns what is wrong if it does not fit.
[[nodiscard]] std::string place_part(const Communicator& comm, const ConstBuffer& mine, const Buffer& all,
                                     std::span<const std::int64_t> counts);

}  // namespace heatpp::detail

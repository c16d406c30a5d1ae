#pragma once

#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>

namespace heatpp::detail {

/// Whether an exchange between all ranks takes less time in two hops: the messages that it saves against the bytes that
/// it copies more. `most` bytes leave the busiest rank or reach it; all ranks get the same answer.
[[nodiscard]] bool worth_two_hops(const Communicator& comm, std::int64_t most);

/// Starts an exchange between all ranks in two hops. A rank gives each rank of its node the blocks for ranks that have
/// the place of that rank on their nodes (modulo the size of this node). That rank sends on what its node has for each
/// of them, in one message. So a rank sends (P / g - 1) + (batches + 1) (g - 1) messages on P / g nodes of g ranks:
/// between nodes one to each, and in the node the sizes of the blocks, 4 bytes each, and one in each batch. A batch is
/// a part of the nodes, so that about 4 MiB of data are on the way at a time.
[[nodiscard]] std::unique_ptr<Operation> two_hops(const Communicator& comm, Sends send, Receives receive,
                                                  std::int64_t most, const char* call);
/// Sends values[r] to rank r in two hops. `received` gets a value of each rank.
[[nodiscard]] std::unique_ptr<Operation> alltoall_in_two_hops(const Communicator& comm,
                                                              std::span<const std::int64_t> values,
                                                              std::span<std::int64_t> received);

}  // namespace heatpp::detail

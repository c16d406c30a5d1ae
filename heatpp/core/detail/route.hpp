#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Sends the first send[0] rows of `rows` (a tensor on the CPU, cut along axis 0) to rank 0, the next
/// send[1] to rank 1, and so on; returns the rows that arrive, in the order of their senders, receive[r] from rank r.
/// Where the receiver cannot know the counts, `comm.alltoall(send)` tells them. One exchange.
[[nodiscard]] at::Tensor exchange_rows(const at::Tensor& rows, std::span<const std::int64_t> send,
                                       std::span<const std::int64_t> receive, const Communicator& comm);

}  // namespace heatpp::detail

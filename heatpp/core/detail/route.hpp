#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Sends the first send[0] rows of `rows` (a tensor on the CPU, cut along axis 0) to rank 0, the next
/// send[1] to rank 1, and so on; returns the rows that arrive, in the order of their senders, receive[r] from rank r.
/// Where the receiver cannot know the counts, `comm.alltoall(send)` tells them. One exchange.
[[nodiscard]] at::Tensor exchange_rows(const at::Tensor& rows, std::span<const std::int64_t> send,
                                       std::span<const std::int64_t> receive, const Communicator& comm);

/// The way of rows (of tensors on the CPU, along axis 0) to the ranks that own them, and of answers back: the ranks
/// agree on it once, and any number of columns go it.
struct Route {
  Communicator comm;
  std::vector<std::int64_t> sent, received;  ///< how many rows this rank sends to each, and each to this one
  at::Tensor slots = {};  ///< the place of each row among those that are sent; undefined where they lie in that order

  /// This rank's rows, with their owners: what arrives here, in the order of the senders. One exchange.
  [[nodiscard]] at::Tensor there(const at::Tensor& rows) const;
  /// What this rank answers to each row that arrived, with those who sent them: in the order of their rows. One
  /// exchange.
  [[nodiscard]] at::Tensor back(const at::Tensor& answers) const;
};

/// The route of rows that lie in the order of their owners, sent[r] for rank r. One alltoall.
[[nodiscard]] Route route_in_order(std::vector<std::int64_t> sent, const Communicator& comm);
/// The route of rows of which the i-th goes to rank owners[i] (int64, whose memory becomes the slots). One alltoall,
/// unless the rank knows how many it receives from each.
[[nodiscard]] Route route_to(const at::Tensor& owners, const Communicator& comm,
                             std::optional<std::vector<std::int64_t>> received = std::nullopt);

/// The rank that holds each of the positions (int64) of an array whose split axis is cut at the offsets.
[[nodiscard]] at::Tensor owners_of(const at::Tensor& positions, std::span<const std::int64_t> offsets);

}  // namespace heatpp::detail

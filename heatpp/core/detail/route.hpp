#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Sends the first send[0] rows of `rows` (a tensor on the CPU, cut along axis 0) to rank 0, the next send[1] to rank
/// 1, and so on. Returns the rows that arrive, in the order of their senders, receive[r] from rank r. If the receiver
/// cannot know the counts, `comm.alltoall(send)` tells them. One exchange.
[[nodiscard]] at::Tensor exchange_rows(const at::Tensor& rows, std::span<const std::int64_t> send,
                                       std::span<const std::int64_t> receive, const Communicator& comm);

/// The way of rows (of tensors on the CPU, along axis 0) to the ranks that own them, and of answers back. The ranks
/// agree on it once; then any number of columns can use it.
struct Route {
  Communicator comm;
  std::vector<std::int64_t> sent, received;  ///< how many rows this rank sends to each, and each to this one
  at::Tensor slots = {};  ///< the place of each row among the sent ones; undefined if they are in order

  /// Sends this rank's rows to their owners. Returns what arrives here, in the order of the senders. One exchange.
  [[nodiscard]] at::Tensor there(const at::Tensor& rows) const;
  /// Sends this rank's answers to the rows that arrived to those who asked. Returns the answers in the order of this
  /// rank's rows. One exchange.
  [[nodiscard]] at::Tensor back(const at::Tensor& answers) const;
};

/// Returns the route of rows that lie in the order of their owners, sent[r] for rank r. One alltoall.
[[nodiscard]] Route route_in_order(std::vector<std::int64_t> sent, const Communicator& comm);
/// Returns the route of rows; row i goes to rank owners[i] (int64, whose memory becomes the slots). One alltoall,
/// unless the rank knows how many rows it receives from each.
[[nodiscard]] Route route_to(const at::Tensor& owners, const Communicator& comm,
                             std::optional<std::vector<std::int64_t>> received = std::nullopt);

/// Returns the rank that holds each position (int64) along an axis.
[[nodiscard]] at::Tensor owners_of(const at::Tensor& positions, const Cut& cut);

}  // namespace heatpp::detail

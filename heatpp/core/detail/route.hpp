#pragma once

#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// The way of rows (of tensors on the CPU, along axis 0) to the ranks that own them, and of answers back. The ranks
/// agree on it once; then any number of columns can use it. It takes 16 bytes for each rank that sends or gets rows.
struct Route {
  Communicator comm;
  std::vector<RowsOfRank> sent, received;  ///< how many rows this rank sends to others, and others to this one
  at::Tensor slots = {};  ///< the place of each row among the sent ones; undefined if they are in order

  /// Sends this rank's rows to their owners. Returns what arrives here, in the order of the senders. One exchange.
  [[nodiscard]] at::Tensor there(const at::Tensor& rows) const;
  /// Sends this rank's answers to the rows that arrived to those who asked. Returns the answers in the order of this
  /// rank's rows. One exchange.
  [[nodiscard]] at::Tensor back(const at::Tensor& answers) const;
};

/// Returns the route of rows that lie in the order of their owners. Sends what `told` sends.
[[nodiscard]] Route route_in_order(std::vector<RowsOfRank> sent, const Communicator& comm);
/// Returns the route of rows; row i goes to rank owners[i] (int64, whose memory becomes the slots). Sends what `told`
/// sends, unless the rank knows how many rows it receives from others.
[[nodiscard]] Route route_to(const at::Tensor& owners, const Communicator& comm,
                             std::optional<std::vector<RowsOfRank>> received = std::nullopt);

/// Turns the owners of rows (int64) into the places of the rows if these are sorted by owner, rows of one owner in
/// their order. Returns how many rows each has. Fewer rows than ranks take no memory for each rank.
[[nodiscard]] std::vector<RowsOfRank> owners_to_slots(const at::Tensor& owners, int ranks);

/// Returns the rank that holds each position (int64) along an axis.
[[nodiscard]] at::Tensor owners_of(const at::Tensor& positions, const Cut& cut);

}  // namespace heatpp::detail

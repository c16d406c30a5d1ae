#pragma once

#include <array>
#include <heatpp/comm/communicator.hpp>

namespace heatpp::device {

/// Messages of the host between ranks while they make a communicator of NCCL. If a rank fails, the others would wait in
/// NCCL; these messages tell them. Nothing here waits.
class Peers {
 public:
  using Offer = std::array<char, 128>;

  /// Collective.
  explicit Peers(const Communicator& comm);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// Gives rank 0's offer to all ranks, or why it has none.
  void offer(const Offer& offer, const std::string& failure);
  /// Returns rank 0's offer; nullptr until it arrives. Without an offer the vote has failed.
  [[nodiscard]] const Offer* offered();
  /// Tells whether it works on this rank, once for each rank: an empty text, or the reason why not.
  void vote(const std::string& failure);
  [[nodiscard]] bool has_voted() const;
  /// Whether the result of all ranks is known. One failure decides.
  [[nodiscard]] bool decided();
  /// Returns why it does not work on one of the ranks; empty if it works.
  [[nodiscard]] const std::string& failure() const;

 private:
  struct Messages;
  void decide(const std::string& failure);

  std::unique_ptr<Messages> messages_;
};

}  // namespace heatpp::device

#pragma once

#include <array>
#include <heatpp/comm/communicator.hpp>

namespace heatpp::device {

/// What the ranks tell each other by messages of the host's while they make a communicator of NCCL's. A rank that fails
/// leaves the others waiting in NCCL; here they hear of it. Nothing waits.
class Peers {
 public:
  using Offer = std::array<char, 128>;

  /// Collective.
  explicit Peers(const Communicator& comm);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// What rank 0 gives to all, or why it cannot.
  void offer(const Offer& offer, const std::string& failure);
  /// Rank 0's offer; nullptr until it has come. Where there is none it is decided that it does not work.
  [[nodiscard]] const Offer* offered();
  /// Whether it works on this rank, once for each rank: an empty text, or why it does not.
  void vote(const std::string& failure);
  [[nodiscard]] bool has_voted() const;
  /// Whether it is known if it works on all ranks. It is as soon as it fails on one.
  [[nodiscard]] bool decided();
  /// Why it does not work on one of them; empty where it does.
  [[nodiscard]] const std::string& failure() const;

 private:
  struct Messages;
  void decide(const std::string& failure);

  std::unique_ptr<Messages> messages_;
};

}  // namespace heatpp::device

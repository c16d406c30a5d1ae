#pragma once

#include <heatpp/comm/communicator.hpp>

#include <chrono>

namespace heatpp::nn::detail {

/// What the nodes say in a round of votes, summed over them.
struct Votes {
  std::int64_t came = 0;       ///< nodes that have handed over their work for the next synchronisation
  std::int64_t due = 0;        ///< ... and have reached the batch at which it is due
  std::int64_t impatient = 0;  ///< ... and have waited for the patience since
  std::int64_t left = 0;       ///< nodes that wait at a drain
  std::int64_t restless = 0;   ///< ... and have waited for the patience since
  std::int64_t batches = 0;    ///< sum of the numbers of batches that these have trained
  [[nodiscard]] std::span<std::int64_t> all() { return {&came, sizeof(Votes) / sizeof(std::int64_t)}; }
};

/// What all nodes conclude from a round.
struct Verdict {
  bool start = false;    ///< the synchronisation starts, with the nodes that have come
  bool call = false;     ///< nodes that have not come should come at the end of their batch
  bool parting = false;  ///< some nodes wait at a drain
  bool stop = false;     ///< all nodes do
  std::int64_t end = 0;  ///< nodes should come to the drain as if they had trained this many batches; 0: no
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// Returns the number of nodes that a share of them is, rounded up; at least 1.
[[nodiscard]] std::int64_t quorum_of(double share, int nodes);
/// Returns what follows from a round: a pure function, so that all nodes conclude the same. A synchronisation starts if
/// all nodes have come, or if it is due for a quorum of them and one of these is impatient. Nodes that came early do
/// not make others hurry.
[[nodiscard]] Verdict verdict(const Votes& votes, int nodes, std::int64_t quorum);
/// Returns the weight of work that has missed this many synchronisations, relative to work that came in time:
/// (1 + missed)^(-1/2) (Xie et al. 2019, Asynchronous federated optimization; Nguyen et al. 2022, FedBuff).
[[nodiscard]] double weight_of_late(std::int64_t missed);

/// Since when a node has come, a synchronisation is due for it, and it has left for a drain.
struct Presence {
  using Time = std::chrono::steady_clock::time_point;
  std::optional<Time> came = {}, due = {}, left = {};
  std::int64_t batch = 0;  ///< batches that it had trained when it left
};

/// Rounds of votes over the nodes, one all-reduce of six numbers each. A node that waits votes at once, another one a
/// quarter of the patience after the last round, so that rounds are rare while all nodes train.
class Ballot {
 public:
  /// `patience` is in seconds.
  Ballot(const Communicator& comm, double patience, std::int64_t quorum);
  Ballot(const Ballot&) = delete;  // messages under way refer to it
  Ballot& operator=(const Ballot&) = delete;

  /// Makes progress. Returns the verdict of a round that has ended. `wait`: waits for its end, if one is under way.
  [[nodiscard]] std::optional<Verdict> advance(const Presence& me, bool wait);

 private:
  [[nodiscard]] Votes votes_of(const Presence& me) const;

  Communicator comm_;
  std::chrono::duration<double> patience_;
  std::int64_t quorum_;
  Votes votes_;
  std::optional<Request> round_;
  Presence::Time next_ = {};
};

}  // namespace heatpp::nn::detail

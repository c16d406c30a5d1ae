#include <heatpp_nn/parallel/detail/ballot.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::nn::detail {

namespace {

using BallotClock = std::chrono::steady_clock;
using BallotSeconds = std::chrono::duration<double>;

// Time between the votes of a node that trains, as a share of the patience, and its limits.
constexpr double share_of_patience = 0.25;
constexpr BallotSeconds shortest_pause{1e-3}, longest_pause{0.1};

}  // namespace

std::int64_t quorum_of(double share, int nodes) {
  constexpr double rounding = 1e-9;  // 0.7 * 10 is more than 7
  return std::max<std::int64_t>(1, std::llround(std::ceil(share * nodes - rounding)));
}

Verdict verdict(const Votes& votes, int nodes, std::int64_t quorum) {
  Verdict found;
  found.parting = votes.left > 0;
  found.stop = votes.left == nodes;
  if (votes.left >= quorum && votes.restless > 0) found.end = votes.batches / votes.left;
  found.call = votes.due >= quorum;
  found.start = !found.stop && (votes.came == nodes || (found.call && votes.impatient > 0));
  return found;
}

double weight_of_late(std::int64_t missed) { return 1 / std::sqrt(1 + static_cast<double>(missed)); }

Ballot::Ballot(const Communicator& comm, double patience, std::int64_t quorum)
    : comm_(comm), patience_(patience), quorum_(quorum) {}

Votes Ballot::votes_of(const Presence& me) const {
  const auto now = BallotClock::now();
  const auto waited = [&](const std::optional<Presence::Time>& since) { return since && now - *since >= patience_; };
  return {.came = me.came.has_value(),
          .due = me.due.has_value(),
          .impatient = waited(me.due),
          .left = me.left.has_value(),
          .restless = waited(me.left),
          .batches = me.left ? me.batch : 0};
}

std::optional<Verdict> Ballot::advance(const Presence& me, bool wait) {
  if (!round_) {
    if (!me.came && !me.left && BallotClock::now() < next_) return std::nullopt;
    votes_ = votes_of(me);
    round_ = comm_.iallreduce(votes_.all());
  }
  if (wait) round_->wait();
  else if (!round_->test()) return std::nullopt;
  round_.reset();
  const auto pause = std::clamp(share_of_patience * patience_, shortest_pause, longest_pause);
  next_ = BallotClock::now() + std::chrono::duration_cast<BallotClock::duration>(pause);
  return verdict(votes_, comm_.size(), quorum_);
}

}  // namespace heatpp::nn::detail

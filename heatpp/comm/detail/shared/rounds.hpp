#pragma once

#include <heatpp/comm/detail/machine/segment.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>

namespace heatpp::detail {

/// A collective of ranks that share memory. It consists of rounds. All ranks make the rounds of a segment in the same
/// order, and each begins when the one before it has ended.
class InRounds : public Operation {
 public:
  bool advance() final {
    if (segment_.ended + 1 < first_) return false;
    while (round_ <= last_ && advance_round()) {
    }
    return round_ > last_;
  }

 protected:
  InRounds(const Communicator& comm, std::int64_t rounds) : comm_(comm), segment_(*comm.impl().segment) {
    begin(rounds);
  }
  void begin(std::int64_t rounds) {
    round_ = first_ = segment_.begin(rounds);
    last_ = first_ + rounds - 1;
  }

  /// Continues the round. Returns whether it could.
  virtual bool advance_round() = 0;
  void end_round() { segment_.ended = round_++; }

  Communicator comm_;
  Segment& segment_;
  std::int64_t first_ = 0, last_ = 0, round_ = 0;
};

/// The ranks that take part in a step.
inline constexpr int all_ranks = -1;

/// In each round `lay(chunk, slot)` fills the slots of the ranks that send, and `take(chunk, slots)` reads them on the
/// ranks that receive; slots(rank) is the slot of a rank.
template <class Lay, class Take>
class Rounds final : public InRounds {
 public:
  struct Who {
    int lays = all_ranks, takes = all_ranks;
  };
  Rounds(const Communicator& comm, std::int64_t rounds, Who who, Lay lay, Take take)
      : InRounds(comm, rounds), who_(who), lay_(std::move(lay)), take_(std::move(take)) {}

 private:
  [[nodiscard]] bool is_me(int who) const { return who == all_ranks || who == comm_.rank(); }

  bool advance_round() override {
    const auto chunk = round_ - first_;
    if (!laid_) {
      if (is_me(who_.lays)) {
        if (!segment_.may_fill(round_)) return false;
        lay_(chunk, segment_.slot(comm_.rank(), round_));
      }
      segment_.announce(Segment::filled, round_);
      laid_ = true;
    }
    if (is_me(who_.takes)) {
      if (!(who_.lays == all_ranks ? segment_.all(Segment::filled, round_) : segment_.has(who_.lays, round_)))
        return false;
      take_(chunk, [this](int rank) { return segment_.slot(rank, round_); });
    }
    laid_ = false;
    end_round();
    return true;
  }

  Who who_;
  Lay lay_;
  Take take_;
  bool laid_ = false;
};

template <class Lay, class Take>
[[nodiscard]] std::unique_ptr<Operation> rounds(const Communicator& comm, std::int64_t count,
                                                typename Rounds<Lay, Take>::Who who, Lay lay, Take take) {
  return std::make_unique<Rounds<Lay, Take>>(comm, count, who, std::move(lay), std::move(take));
}

}  // namespace heatpp::detail

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/shared/rounds.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::comm {
namespace {

using detail::Range;
using detail::Segment;

// Below this size, each rank reads all data, which is faster than two waits.
constexpr std::int64_t small_bytes = 8 << 10;

/// The data go through the slots in rounds. In each round, every rank writes its part of a chunk to its slot, waits for
/// the others, reduces one slice of it from all slots in rank order, waits again, and fetches the other slices. While
/// it waits for the slices it already writes the next chunk. This needs three slots: when a rank writes to a slot, the
/// others have read what it held three rounds before.
class Shared final : public detail::InRounds {
 public:
  Shared(const Communicator& comm, Buffer data, ReduceOp op)
      : InRounds(comm, rounds_for(comm, data)), data_(data), op_(op), chunk_(chunk_of(comm, data)) {
    small_ = data.bytes() * comm.size() <= small_bytes * 2 && data.bytes() <= small_bytes;
  }

  bool restart() override {
    begin(rounds_for(comm_, data_));
    return true;
  }

 private:
  enum class At { begin, filled, reduced };

  /// Returns the elements of a round.
  static std::int64_t chunk_of(const Communicator& comm, const Buffer& data) {
    return comm.impl().segment->slot_bytes() / static_cast<std::int64_t>(itemsize(data.dtype));
  }
  static std::int64_t rounds_for(const Communicator& comm, const Buffer& data) {
    const auto chunk = chunk_of(comm, data);
    return (data.count + chunk - 1) / chunk;
  }

  bool advance_round() override {
    switch (at_) {
      case At::begin:
        if (filled_ < round_ && !segment_.may_fill(round_)) return false;
        if (filled_ < round_) fill(round_);
        at_ = At::filled;
        return true;
      case At::filled:
        if (!segment_.all(Segment::filled, round_)) return false;
        if (small_) return end([&] { combine(whole(round_), chunk(round_)); });
        reduce(round_);
        if (round_ < last_) fill(round_ + 1);
        at_ = At::reduced;
        return true;
      case At::reduced:
        if (!segment_.all(Segment::reduced, round_)) return false;
        return end([&] { fetch(round_); });
    }
    return false;
  }

  template <class F>
  bool end(F last) {
    last();
    end_round();
    at_ = At::begin;
    return true;
  }

  [[nodiscard]] std::int64_t item() const { return static_cast<std::int64_t>(itemsize(data_.dtype)); }
  [[nodiscard]] std::byte* chunk(std::int64_t round) const {
    return static_cast<std::byte*>(data_.data) + (round - first_) * chunk_ * item();
  }
  [[nodiscard]] Range whole(std::int64_t round) const {
    return {0, std::min(chunk_, data_.count - (round - first_) * chunk_)};
  }
  /// Slices consist of whole cache lines.
  [[nodiscard]] Range slice(std::int64_t round, int rank) const {
    const auto count = whole(round).count;
    const auto line = std::max<std::int64_t>(64 / item(), 1);
    const auto each = ((count + comm_.size() - 1) / comm_.size() + line - 1) / line * line;
    const auto first = std::min(rank * each, count);
    return {first, std::min(each, count - first)};
  }

  void copy(std::byte* to, const std::byte* from, Range part) const {
    std::memcpy(to + part.first * item(), from + part.first * item(), static_cast<std::size_t>(part.count * item()));
  }

  /// A rank reduces its own slice from the caller's memory.
  void fill(std::int64_t round) {
    auto* const slot = segment_.slot(comm_.rank(), round);
    if (small_) copy(slot, chunk(round), whole(round));
    for (int rank = 0; rank < comm_.size() && !small_; ++rank)
      if (rank != comm_.rank()) copy(slot, chunk(round), slice(round, rank));
    segment_.announce(Segment::filled, filled_ = round);
  }

  void combine(Range part, std::byte* data) {
    operands_.clear();
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const auto* from = rank == comm_.rank() ? data : segment_.slot(rank, round_);
      operands_.push_back(from + part.first * item());
    }
    auto* const to = data + part.first * item();
    detail::combine(op_, data_.dtype, operands_, to, part.count);
    if (op_ == ReduceOp::mean) detail::divide(data_.dtype, to, part.count, comm_.size());
  }

  void reduce(std::int64_t round) {
    const auto mine = slice(round, comm_.rank());
    combine(mine, chunk(round));
    copy(segment_.slot(comm_.rank(), round), chunk(round), mine);
    segment_.announce(Segment::reduced, round);
  }

  void fetch(std::int64_t round) {
    for (int step = 1; step < comm_.size(); ++step) {
      const int rank = (comm_.rank() + step) % comm_.size();
      copy(chunk(round), segment_.slot(rank, round), slice(round, rank));
    }
  }

  Buffer data_;
  ReduceOp op_;
  std::int64_t chunk_;
  bool small_;
  std::int64_t filled_ = 0;
  At at_ = At::begin;
  std::vector<const void*> operands_;
};

}  // namespace

std::unique_ptr<detail::Operation> shared(const Topology& topology, Buffer data, ReduceOp op, const char* /*call*/) {
  return detail::shared_allreduce(topology.comm(), data, op);
}

}  // namespace heatpp::comm

namespace heatpp {

std::unique_ptr<detail::Operation> detail::shared_allreduce(const Communicator& comm, Buffer data, ReduceOp op) {
  return std::make_unique<comm::Shared>(comm, data, op);
}

}  // namespace heatpp

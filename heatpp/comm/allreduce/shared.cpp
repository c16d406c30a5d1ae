#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/machine/segment.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::comm {
namespace {

using detail::Segment;

// So small that each rank had better read it all than wait twice.
constexpr std::int64_t small_bytes = 8 << 10;

/// The data go through the slots in rounds. In each, every rank lays its part of a chunk open, waits for the others,
/// reduces one slice of it from all of them in rank order, waits again, and fetches the other slices. While it waits
/// for the slices it already lays open the next chunk: hence three slots, for when a rank writes to a slot, the others
/// are past reading what it held three rounds ago.
class Shared final : public detail::Operation {
 public:
  Shared(const Communicator& comm, Buffer data, ReduceOp op)
      : comm_(comm), segment_(*comm.impl().segment), data_(data), op_(op) {
    const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
    chunk_ = Segment::slot_bytes / item;
    small_ = data.bytes() * comm.size() <= small_bytes * 2 && data.bytes() <= small_bytes;
    restart();
  }

  bool restart() override {
    const auto rounds = static_cast<std::uint64_t>((data_.count + chunk_ - 1) / chunk_);
    first_ = segment_.begun.fetch_add(rounds) + 1;
    last_ = first_ + rounds - 1;
    round_ = first_;
    return true;
  }

  bool advance() override {
    if (segment_.ended + 1 < first_) return false;  // an earlier one is at work
    while (round_ <= last_ && advance_round()) {
    }
    return round_ > last_;
  }

 private:
  enum class At { begin, filled, reduced };

  /// One step of a round; whether there was one to do.
  bool advance_round() {
    switch (at_) {
      case At::begin:
        if (filled_ < round_) fill(round_);
        at_ = At::filled;
        return true;
      case At::filled:
        if (!segment_.all(Segment::filled, round_)) return false;
        if (small_) return end_round([&] { combine(whole(round_), chunk(round_)); });
        reduce(round_);
        if (round_ < last_) fill(round_ + 1);
        at_ = At::reduced;
        return true;
      case At::reduced:
        if (!segment_.all(Segment::reduced, round_)) return false;
        return end_round([&] { fetch(round_); });
    }
    return false;
  }

  template <class F>
  bool end_round(F last) {
    last();
    segment_.ended = round_++;
    at_ = At::begin;
    return true;
  }

  [[nodiscard]] std::int64_t item() const { return static_cast<std::int64_t>(itemsize(data_.dtype)); }
  [[nodiscard]] std::byte* chunk(std::uint64_t round) const {
    return static_cast<std::byte*>(data_.data) + static_cast<std::int64_t>(round - first_) * chunk_ * item();
  }
  struct Part {
    std::int64_t first, count;
  };
  [[nodiscard]] Part whole(std::uint64_t round) const {
    return {0, std::min(chunk_, data_.count - static_cast<std::int64_t>(round - first_) * chunk_)};
  }
  /// Slices are made of whole cache lines.
  [[nodiscard]] Part slice(std::uint64_t round, int rank) const {
    const auto count = whole(round).count;
    const auto line = std::max<std::int64_t>(64 / item(), 1);
    const auto each = ((count + comm_.size() - 1) / comm_.size() + line - 1) / line * line;
    const auto first = std::min(rank * each, count);
    return {first, std::min(each, count - first)};
  }

  void copy(std::byte* to, const std::byte* from, Part part) const {
    std::memcpy(to + part.first * item(), from + part.first * item(), static_cast<std::size_t>(part.count * item()));
  }

  /// The own slice is reduced from where it is.
  void fill(std::uint64_t round) {
    auto* const slot = segment_.slot(comm_.rank(), round);
    if (small_) copy(slot, chunk(round), whole(round));
    for (int rank = 0; rank < comm_.size() && !small_; ++rank)
      if (rank != comm_.rank()) copy(slot, chunk(round), slice(round, rank));
    segment_.announce(Segment::filled, filled_ = round);
  }

  void combine(Part part, std::byte* data) {
    operands_.clear();
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const auto* from = rank == comm_.rank() ? data : segment_.slot(rank, round_);
      operands_.push_back(from + part.first * item());
    }
    auto* const to = data + part.first * item();
    detail::combine(op_, data_.dtype, operands_, to, part.count);
    if (op_ == ReduceOp::mean) detail::divide(data_.dtype, to, part.count, comm_.size());
  }

  void reduce(std::uint64_t round) {
    const auto mine = slice(round, comm_.rank());
    combine(mine, chunk(round));
    copy(segment_.slot(comm_.rank(), round), chunk(round), mine);
    segment_.announce(Segment::reduced, round);
  }

  void fetch(std::uint64_t round) {
    for (int step = 1; step < comm_.size(); ++step) {
      const int rank = (comm_.rank() + step) % comm_.size();
      copy(chunk(round), segment_.slot(rank, round), slice(round, rank));
    }
  }

  Communicator comm_;
  Segment& segment_;
  Buffer data_;
  ReduceOp op_;
  std::int64_t chunk_;  // elements of a round
  bool small_;
  std::uint64_t first_ = 0, last_ = 0, round_ = 0, filled_ = 0;
  At at_ = At::begin;
  std::vector<const void*> operands_;
};

}  // namespace

bool shares_memory(const Topology& topology) { return topology.comm().impl().segment != nullptr; }

std::unique_ptr<detail::Operation> shared(const Topology& topology, Buffer data, ReduceOp op) {
  return std::make_unique<Shared>(topology.comm(), data, op);
}

}  // namespace heatpp::comm

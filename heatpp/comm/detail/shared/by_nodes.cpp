#include <heatpp/comm/detail/shared/by_nodes.hpp>

#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/shared/rounds.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <cstring>

namespace heatpp::detail {
namespace {

constexpr int leader = 0;

/// The ranks lay their data in one round, and the first one lays the result in the next.
class ByNodes final : public InRounds {
 public:
  ByNodes(const Topology& topology, const Buffer& data, ReduceOp op, const char* call)
      : InRounds(topology.state().groups->node, 2),
        groups_(topology.state().groups),
        ranks_(topology.comm().size()),
        data_(data),
        op_(op),
        call_(call) {}

  bool restart() override {
    begin(2);
    across_ = nullptr;
    summed_ = false;
    return true;
  }

  [[nodiscard]] bool in_flight() const override { return across_ && across_->in_flight(); }
  void end_messages() noexcept override {
    if (across_) across_->end_messages();
  }

 private:
  bool advance_round() override {
    const bool done =
        round_ == first_ ? (comm_.rank() == leader ? sum() : lay()) : (comm_.rank() == leader ? tell() : take());
    if (done) end_round();
    return done;
  }

  bool lay() {
    if (!segment_.may_fill(round_)) return false;
    copy(segment_.slot(comm_.rank(), round_), data_.data);
    segment_.announce(Segment::filled, round_);
    return true;
  }
  bool sum() {
    segment_.announce(Segment::filled, round_);
    if (!segment_.all(Segment::filled, round_)) return false;
    std::vector<const void*> operands{data_.data};
    for (int rank = 1; rank < comm_.size(); ++rank) operands.push_back(segment_.slot(rank, round_));
    combine(op_, data_.dtype, operands, data_.data, data_.count);
    return true;
  }
  bool tell() {
    const auto sum = op_ == ReduceOp::mean ? ReduceOp::sum : op_;
    if (!across_) across_ = small_allreduce(*groups_->leaders, data_, sum, call_);
    if (!summed_ && !(summed_ = across_->advance())) return false;
    if (!segment_.may_fill(round_)) return false;
    if (op_ == ReduceOp::mean) divide(data_.dtype, data_.data, data_.count, ranks_);
    return lay();
  }
  bool take() {
    segment_.announce(Segment::filled, round_);
    if (!segment_.has(leader, round_)) return false;
    copy(data_.data, segment_.slot(leader, round_));
    return true;
  }

  /// Copies the data; memory without elements may have no address.
  void copy(void* to, const void* from) const {
    if (data_.count > 0) std::memcpy(to, from, static_cast<std::size_t>(data_.bytes()));
  }

  std::shared_ptr<const NodeGroups> groups_;
  int ranks_;
  Buffer data_;
  ReduceOp op_;
  const char* call_;
  std::unique_ptr<Operation> across_;  // on the first rank
  bool summed_ = false;
};

Communicator part_of(const Communicator& comm, int color) {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm.impl().mpi, color, comm.rank(), &part), "Communicator");
  Communicator made(std::make_shared<Communicator::Impl>(part));
  made.impl().settings = comm.impl().settings;
  made.impl().part = true;
  return made;
}

}  // namespace

std::shared_ptr<const NodeGroups> find_node_groups(const Communicator& comm, int node) {
  await_all(comm, "Communicator");
  auto mine = part_of(comm, node), first = part_of(comm, mine.rank() == leader ? 0 : 1);
  if (mine.size() > 1) mine.impl().segment = Segment::make(mine, comm.impl().node, small_bytes);
  std::int64_t all = mine.size() == 1 || mine.impl().segment;
  run(small_allreduce(comm, {&all, 1, Dtype::int64}, ReduceOp::min, "Communicator"));
  if (!all) return nullptr;
  return std::make_shared<const NodeGroups>(mine, mine.rank() == leader ? std::optional(first) : std::nullopt);
}

std::unique_ptr<Operation> allreduce_by_nodes(const Topology& topology, Buffer data, ReduceOp op, const char* call) {
  const auto sum = op == ReduceOp::mean ? ReduceOp::sum : op;
  const auto& [node, leaders] = *topology.state().groups;
  const bool fits = data.bytes() <= small_bytes;
  if (fits && node.size() > 1) return std::make_unique<ByNodes>(topology, data, op, call);
  auto whole = small_allreduce(fits ? *leaders : topology.comm(), data, sum, call);
  if (op != ReduceOp::mean) return whole;
  return then(std::move(whole),
              [data, ranks = topology.comm().size()] { divide(data.dtype, data.data, data.count, ranks); });
}

}  // namespace heatpp::detail

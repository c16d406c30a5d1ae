#include <heatpp/comm/device/pipeline.hpp>

#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/state.hpp>

namespace heatpp::device {
namespace {

using detail::Range;

constexpr std::size_t window = 4;  // chunks under way

class Pipeline final : public detail::Operation {
 public:
  Pipeline(const Topology& topology, const Buffer& data, ReduceOp op, PipelineOptions options)
      : topology_(topology), data_(data), op_(op), options_(std::move(options)), turn_(call_queue()) {
    const cuda::OnDevice guard(data.memory.device);
    ready_.emplace().record(data.memory.stream);
    streams_ = &cuda::Streams::of(data.memory.device);
    alarms_ = &Resources::of(topology.comm(), data.memory).operations();
    number_ = alarms_->begin();
    const auto& node = topology.node();
    if (options_.backends.node == Backend::nccl && node.size() > 1)
      group_ = &Resources::of(node, data.memory).nccl(node);
    if (by_mpi()) between_ = Resources::of(topology.across(), data.memory).messages(topology.across());
    for (std::int64_t first = 0; first < data.count; first += options_.chunk)
      lanes_.emplace_back(Range{first, std::min(options_.chunk, data.count - first)});
  }
  ~Pipeline() override {
    if (released_ == lanes_.size()) return;
    if (group_) group_->abort(why_);
    if (!why_.empty()) alarms_->raise(why_);
    for (auto& lane : lanes_) {  // messages and copies may still be under way
      detail::abandon(std::move(lane.crossing), std::current_exception());
      (void)new detail::Scratch(std::move(lane.host));
    }
  }

  bool advance() override {
    try {
      return go_on();
    } catch (const Error& error) {
      why_ = error.what();
      throw;
    }
  }

  bool hold(const Memory& stream) override {
    if (returned_ < lanes_.size()) return false;
    const cuda::OnDevice guard(stream.device);
    lanes_.back().returned.hold(stream.stream);  // in one stream with those before it
    return true;
  }

 private:
  struct Lane {
    explicit Lane(Range range_) : range(range_) {}
    Range range;
    detail::Scratch host = {};
    cuda::Event reduced = {}, returned = {};
    std::unique_ptr<Operation> crossing = {};
  };

  bool go_on() {
    if (returned_ < lanes_.size()) {
      if (!turn_.come()) return false;
      const cuda::OnDevice guard(data_.memory.device);
      turn_.keep_unless_thrown([&] {
        expect_end();
        move_on();
      });
      if (returned_ == lanes_.size()) turn_.end();
    }
    while (released_ < returned_ && lanes_[released_].returned.ended()) lanes_[released_++].host = {};
    const bool ended = released_ == lanes_.size();
    if (group_ && returned_ == lanes_.size()) ended ? group_->note_end_of(calls_) : group_->expect_end_of(calls_);
    if (ended) alarms_->note_end_of(number_);
    else if (returned_ == lanes_.size()) expect_end();
    return ended;
  }

  /// Throws if another rank has failed, because messages between nodes do not tell.
  void expect_end() const {
    if (const auto failure = alarms_->failure_of(number_)) throw CommError(*failure);
  }

  [[nodiscard]] bool by_mpi() const { return options_.backends.across == Backend::mpi; }

  void move_on() {
    if (!std::exchange(begun_, true)) (group_ ? streams_->nccl : streams_->to_host).wait_for(*ready_);
    call_nccl();
    while (crossed_ < sent_ && lanes_[crossed_].reduced.ended()) cross(lanes_[crossed_++]);
    for (auto i = returned_; i < crossed_; ++i)
      if (auto& crossing = lanes_[i].crossing; crossing && crossing->advance()) crossing = nullptr;
    call_nccl();
  }

  /// NCCL's calls have one order on all ranks, which does not depend on arrival: the first chunks go down, and each
  /// that goes up is followed by the next one down. Operations between nodes follow the same rule.
  void call_nccl() {
    while (!group_ || group_->idle()) {
      if (call_taken_) std::exchange(call_taken_, nullptr)();
      else if (sent_ < std::min(returned_ + window, lanes_.size())) down(lanes_[sent_]);
      else if (returned_ < crossed_ && !lanes_[returned_].crossing) up(lanes_[returned_]);
      else return;
    }
  }

  [[nodiscard]] Buffer part_of_data(Range range) const {
    auto* const at = static_cast<std::byte*>(data_.data) + range.first * item();
    return {at, range.count, data_.dtype, data_.memory};
  }
  [[nodiscard]] std::int64_t item() const { return static_cast<std::int64_t>(itemsize(data_.dtype)); }
  /// Returns the range of a chunk that this rank holds between its ways down and up.
  [[nodiscard]] Range mine(const Lane& lane) const {
    if (!group_) return lane.range;
    const auto& node = topology_.node();
    return detail::part_of(lane.range, static_cast<std::size_t>(node.rank()), static_cast<std::size_t>(node.size()));
  }
  [[nodiscard]] std::vector<std::int64_t> counts(const Lane& lane) const {
    std::vector<std::int64_t> all;
    const auto ranks = static_cast<std::size_t>(topology_.node().size());
    for (std::size_t r = 0; r < ranks; ++r) all.push_back(detail::part_of(lane.range, r, ranks).count);
    return all;
  }
  [[nodiscard]] std::byte* in_host(const Lane& lane, Range range) const {
    return lane.host.data() + (range.first - lane.range.first) * item();
  }

  void down(Lane& lane) {
    const auto part = mine(lane);
    // A mean is divided by the number of all ranks after the sum of all is complete.
    if (group_) group_->reduce_scatter(part_of_data(lane.range), counts(lane), sum_of(op_), streams_->nccl);
    if (group_) count(lane, part);
    call_taken_ = [this, &lane, part] {
      if (group_) streams_->to_host.wait_for(streams_->nccl);
      if (!by_mpi()) {
        lane.host = detail::Scratch(lane.range.count * item(), cuda::pinned());
        streams_->to_host.copy(in_host(lane, part), part_of_data(part).data, part.count * item());
      }
      lane.reduced.record(streams_->to_host.handle());
      ++sent_;
    };
  }

  void cross(Lane& lane) {
    if (!by_mpi()) {
      lane.crossing = options_.cross({lane.host.data(), lane.range.count, data_.dtype});
      return;
    }
    const auto part = part_of_data(mine(lane));
    between_->allreduce({part.data, part.count, part.dtype}, op_);
  }

  void up(Lane& lane) {
    const auto part = mine(lane);
    if (!by_mpi()) streams_->to_device.copy(part_of_data(part).data, in_host(lane, part), part.count * item());
    if (group_) {
      streams_->nccl.wait_for(streams_->to_device);
      group_->allgather(part_of_data(lane.range), counts(lane), streams_->nccl);
      count(lane, part);
      calls_ = group_->calls();
    }
    call_taken_ = [this, &lane] {
      lane.returned.record(group_ ? streams_->nccl.handle() : streams_->to_device.handle());
      ++returned_;
    };
  }

  static ReduceOp sum_of(ReduceOp op) { return op == ReduceOp::mean ? ReduceOp::sum : op; }
  void count(const Lane& lane, Range part) const {
    topology_.state().count(topology_.comm(), topology_.state().node_level, (lane.range.count - part.count) * item());
  }

  Topology topology_;
  Buffer data_;
  ReduceOp op_;
  PipelineOptions options_;
  detail::CallQueue::Turn turn_;
  std::optional<cuda::Event> ready_;
  const cuda::Streams* streams_ = nullptr;
  nccl::Group* group_ = nullptr;
  std::optional<Communicator> between_;
  std::vector<Lane> lanes_;
  std::function<void()> call_taken_;  // runs when NCCL has taken its latest call
  Alarms* alarms_ = nullptr;
  std::int64_t number_ = 0;
  std::string why_ = {};  // reason of a failure
  bool begun_ = false;
  std::int64_t calls_ = 0;                                            // of the group, including the latest
  std::size_t sent_ = 0, crossed_ = 0, returned_ = 0, released_ = 0;  // lanes
};

}  // namespace

std::unique_ptr<detail::Operation> pipeline(const Topology& topology, const Buffer& data, ReduceOp op,
                                            PipelineOptions options) {
  return std::make_unique<Pipeline>(topology, data, op, std::move(options));
}

}  // namespace heatpp::device

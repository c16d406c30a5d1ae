#include <heatpp/comm/device/in_stream.hpp>

#include <algorithm>
#include <map>

namespace heatpp::device {
namespace {

class InStream final : public detail::Operation {
 public:
  InStream(std::span<const Memory> after, std::vector<NcclCall> calls)
      : device_(after.front().device), calls_(std::move(calls)), turn_(call_queue()) {
    const cuda::OnDevice guard(device_);
    for (const auto& memory : after) ready_.emplace_back().record(memory.stream);
    done_.emplace();
  }
  ~InStream() override {
    if (!begun_ || ended_) return;
    for (const auto& call : calls_) call.group->abort(why_);
  }

  bool advance() override {
    if (!all_put_ && !turn_.come()) return false;
    const cuda::OnDevice guard(device_);
    try {
      if (!all_put_) turn_.keep_unless_thrown([&] { put(); });
      return all_put_ && end();
    } catch (const Error& error) {
      why_ = error.what();
      throw;
    }
  }

  bool hold(const Memory& stream) override {
    if (!all_put_) return false;
    const cuda::OnDevice guard(stream.device);
    done_->hold(stream.stream);
    return true;
  }

 private:
  [[nodiscard]] bool all_idle() const {
    return std::ranges::all_of(calls_, [](const NcclCall& call) { return call.group->idle(); });
  }

  /// Enters the calls that NCCL takes now.
  void put() {
    const auto& stream = cuda::Streams::of(device_).nccl;
    if (!std::exchange(begun_, true))
      for (const auto& moment : ready_) stream.wait_for(moment);
    while (all_idle()) {
      if (next_ == calls_.size()) return finish(stream);
      const auto& call = calls_[next_++];
      call.put(stream);
      in_stream_[call.group] = call.group->calls();
    }
  }

  bool end() {
    ended_ = done_->ended();
    for (const auto& [group, calls] : in_stream_) ended_ ? group->note_end_of(calls) : group->expect_end_of(calls);
    return ended_;
  }

  void finish(const cuda::Stream& stream) {
    done_->record(stream.handle());
    all_put_ = true;
    turn_.end();
  }

  int device_;
  std::vector<NcclCall> calls_;
  detail::CallQueue::Turn turn_;
  std::vector<cuda::Event> ready_;
  std::optional<cuda::Event> done_;
  std::size_t next_ = 0;                            // next call
  std::map<nccl::Group*, std::int64_t> in_stream_;  // number of the latest call
  std::string why_ = {};                            // reason of a failure
  bool begun_ = false, all_put_ = false, ended_ = false;
};

}  // namespace

std::unique_ptr<detail::Operation> in_stream(std::span<const Memory> after, std::vector<NcclCall> calls) {
  return std::make_unique<InStream>(after, std::move(calls));
}

}  // namespace heatpp::device

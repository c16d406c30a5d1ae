#include <heatpp/comm/device/in_stream.hpp>

#include <thread>

namespace heatpp::device {
namespace {

class InStream final : public detail::Operation {
 public:
  InStream(const Memory& memory, std::vector<nccl::Group*> groups, std::function<void(const cuda::Stream&)> put)
      : device_(memory.device), groups_(std::move(groups)), put_(std::move(put)), turn_(turns()) {
    const cuda::OnDevice guard(device_);
    ready_.emplace().record(memory.stream);
    done_.emplace();
  }
  ~InStream() override {
    if (put_ || ended_) return;
    for (auto* group : groups_) group->abort();
  }

  bool advance() override {
    if (put_ && !turn_.come()) return false;
    const cuda::OnDevice guard(device_);
    if (put_) turn_.keep_unless_thrown([&] { begin(); });
    for (auto* group : groups_) group->check();
    return ended_ = done_->ended();
  }

 private:
  void begin() {
    const auto& stream = cuda::Streams::of(device_).nccl;
    stream.wait_for(*ready_);
    std::exchange(put_, nullptr)(stream);
    done_->record(stream.handle());
    turn_.end();
  }

  int device_;
  std::vector<nccl::Group*> groups_;
  std::function<void(const cuda::Stream&)> put_;  // until it is done
  detail::Turns::Turn turn_;
  std::optional<cuda::Event> ready_, done_;
  bool ended_ = false;
};

void copy_and_wait(void* to, const void* from, std::int64_t bytes, const cuda::Stream& stream) {
  stream.copy(to, from, bytes);
  cuda::Event copied;
  copied.record(stream.handle());
  while (!copied.ended()) std::this_thread::yield();
}

}  // namespace

std::unique_ptr<detail::Operation> in_stream(const Memory& memory, std::vector<nccl::Group*> groups,
                                             std::function<void(const cuda::Stream&)> put) {
  return std::make_unique<InStream>(memory, std::move(groups), std::move(put));
}

void settle(const Memory& memory) {
  const cuda::OnDevice guard(memory.device);
  cuda::Event end;
  end.record(memory.stream);
  while (!end.ended()) std::this_thread::yield();
}

void copy(const Memory& memory, void* to, const void* from, std::int64_t bytes) {
  settle(memory);
  const cuda::OnDevice guard(memory.device);
  copy_and_wait(to, from, bytes, cuda::Streams::of(memory.device).to_device);
}

std::unique_ptr<detail::Operation> through_host(const Buffer& data, const detail::StartAllreduce& make) {
  settle(data.memory);
  const cuda::OnDevice guard(data.memory.device);
  const auto& streams = cuda::Streams::of(data.memory.device);
  auto host = std::make_shared<detail::Scratch>(data.bytes(), cuda::pinned());
  copy_and_wait(host->data(), data.data, data.bytes(), streams.to_host);
  return detail::then(make({host->data(), data.count, data.dtype}), [data, host, &streams] {
    const cuda::OnDevice there(data.memory.device);
    copy_and_wait(data.data, host->data(), data.bytes(), streams.to_device);
  });
}

void on_host(const Buffer& data, const std::function<void(Buffer host)>& work) {
  detail::run(*through_host(data, [&](Buffer host) -> std::unique_ptr<detail::Operation> {
    work(host);
    return std::make_unique<detail::Done>();
  }));
}

}  // namespace heatpp::device

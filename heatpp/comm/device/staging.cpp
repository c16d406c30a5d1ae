#include <heatpp/comm/device/staging.hpp>

#include <heatpp/comm/detail/machine/scratch.hpp>

#include <thread>

namespace heatpp::device {
namespace {

cuda::Event end_of(const Memory& memory) {
  const cuda::OnDevice guard(memory.device);
  cuda::Event end;
  end.record(memory.stream);
  return end;
}
Memory memory_of(int device, const cuda::Stream& stream) { return {.device = device, .stream = stream.handle()}; }

void hold_until(const cuda::Event& moment, const Memory& stream) {
  const cuda::OnDevice guard(stream.device);
  moment.hold(stream.stream);
}

class Settled final : public detail::Operation {
 public:
  explicit Settled(const Memory& memory) : end_(end_of(memory)) {}
  bool advance() override { return end_.ended(); }
  bool hold(const Memory& stream) override {
    hold_until(end_, stream);
    return true;
  }

 private:
  cuda::Event end_;
};

class ThroughHost final : public detail::Operation {
 public:
  ThroughHost(const Buffer& data, const detail::StartAllreduce& make)
      : data_(data), streams_(cuda::Streams::of(data.memory.device)) {
    settle(data.memory);
    {
      const cuda::OnDevice guard(data.memory.device);
      host_ = detail::Scratch(data.bytes(), cuda::pinned());
      streams_.to_host.copy(host_.data(), data.data, data.bytes());
    }
    settle(memory_of(data.memory.device, streams_.to_host));
    operation_ = make({host_.data(), data.count, data.dtype});
  }
  /// A copy under way ends without other ranks and needs the memory.
  ~ThroughHost() override {
    while (returned_ && !returned_->ended()) std::this_thread::yield();
  }

  bool advance() override {
    if (operation_) {
      if (!operation_->advance()) return false;
      operation_.reset();
      copy_back();
    }
    return returned_->ended();
  }
  bool hold(const Memory& stream) override {
    if (returned_) hold_until(*returned_, stream);
    return returned_.has_value();
  }

 private:
  void copy_back() {
    const auto device = data_.memory.device;
    const cuda::OnDevice guard(device);
    streams_.to_device.copy(data_.data, host_.data(), data_.bytes());
    returned_.emplace(end_of(memory_of(device, streams_.to_device)));
  }

  Buffer data_;
  const cuda::Streams& streams_;
  detail::Scratch host_;
  std::unique_ptr<Operation> operation_;
  std::optional<cuda::Event> returned_;
};

}  // namespace

std::unique_ptr<detail::Operation> settled(const Memory& memory) { return std::make_unique<Settled>(memory); }

void settle(const Memory& memory) {
  Settled operation(memory);
  detail::run(operation);
}

void copy(const ConstBuffer& from, void* to, const Memory& memory) {
  settle(from.memory);
  settle(memory);
  const auto& stream = cuda::Streams::of(memory.device).to_device;
  {
    const cuda::OnDevice guard(memory.device);
    stream.copy(to, from.data, from.bytes());
  }
  settle(memory_of(memory.device, stream));
}

std::unique_ptr<detail::Operation> through_host(const Buffer& data, const detail::StartAllreduce& make) {
  return std::make_unique<ThroughHost>(data, make);
}

void on_host(const Buffer& data, const std::function<void(Buffer host)>& work) {
  detail::run(through_host(data, [&](Buffer host) -> std::unique_ptr<detail::Operation> {
    work(host);
    return std::make_unique<detail::Done>();
  }));
}

}  // namespace heatpp::device

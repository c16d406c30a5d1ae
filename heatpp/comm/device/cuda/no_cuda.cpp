#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/cuda/cuda.hpp>

namespace heatpp::cuda {
namespace {

[[noreturn]] void missing() {
  detail::raise<NotCompiled>("device", "got memory of a device; expected a build that found CUDA's headers");
}

}  // namespace

bool available() { return false; }
bool in_use() { return false; }
int current_device() { missing(); }
std::int64_t bus_address(int) { missing(); }
OnDevice::OnDevice(int) { missing(); }
OnDevice::~OnDevice() = default;
Stream::Stream() { missing(); }
void Stream::wait_for(const Stream&) const { missing(); }
void Stream::copy(void*, const void*, std::int64_t) const { missing(); }
Event::Event() { missing(); }
Event::~Event() = default;
void Event::record(void*) { missing(); }
bool Event::ended() const { missing(); }
void Event::hold(void*) const { missing(); }
const Streams& Streams::of(int) { missing(); }
detail::Pool& pinned() { missing(); }

}  // namespace heatpp::cuda

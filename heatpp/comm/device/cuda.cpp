#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/cuda.hpp>
#include <heatpp/comm/device/library.hpp>

#include <atomic>
#include <map>

#define CUDA(name) HEATPP_FROM(library(), name)

namespace heatpp::cuda {
namespace {

std::atomic<bool> is_loaded{false};

const device::Library& library() {
  static const device::Library instance("HEATPP_CUDART", {"libcudart.so.13", "libcudart.so.12", "libcudart.so"});
  is_loaded = instance.loaded();
  return instance;
}

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  detail::raise<CommError>(what, "got the CUDA error \"{}\"; expected success", CUDA(cudaGetErrorString)(code));
}

cudaStream_t stream_of(void* handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(void* handle) { return static_cast<cudaEvent_t>(handle); }

}  // namespace

bool available() {
  static const bool found = [] {
    int devices = 0;
    return library().loaded() && CUDA(cudaGetDeviceCount)(&devices) == cudaSuccess && devices > 0;
  }();
  return found;
}

// The runtime itself loads the driver at its first use.
bool in_use() { return (is_loaded || ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY)) && available(); }

int current_device() {
  int device = 0;
  check(CUDA(cudaGetDevice)(&device), "cudaGetDevice");
  return device;
}

std::int64_t bus_address(int device) {
  char text[32] = {};
  check(CUDA(cudaDeviceGetPCIBusId)(text, sizeof text, device), "cudaDeviceGetPCIBusId");
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
    detail::raise<CommError>("device", "got the bus address \"{}\"; expected one such as 0000:3b:00.0", text);
  return std::int64_t{(domain & 0xffff) << 16 | (bus & 0xff) << 8 | (slot & 0x1f) << 3 | (function & 7)};
}

OnDevice::OnDevice(int device) : before_(current_device()) {
  if (device != before_) check(CUDA(cudaSetDevice)(device), "cudaSetDevice");
}
OnDevice::~OnDevice() { CUDA(cudaSetDevice)(before_); }

Stream::Stream() {
  cudaStream_t stream = nullptr;
  check(CUDA(cudaStreamCreateWithFlags)(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  handle_ = stream;
}

void Stream::wait_for(const Event& moment) const {
  check(CUDA(cudaStreamWaitEvent)(stream_of(handle_), event_of(moment.handle()), 0), "cudaStreamWaitEvent");
}

void Stream::wait_for(const Stream& other) const {
  Event moment;
  moment.record(other.handle());
  wait_for(moment);
}

void Stream::copy(void* to, const void* from, std::int64_t bytes) const {
  if (bytes == 0) return;
  const auto n = static_cast<std::size_t>(bytes);
  check(CUDA(cudaMemcpyAsync)(to, from, n, cudaMemcpyDefault, stream_of(handle_)), "cudaMemcpyAsync");
}

Event::Event() {
  cudaEvent_t event = nullptr;
  check(CUDA(cudaEventCreateWithFlags)(&event, cudaEventDisableTiming), "cudaEventCreate");
  handle_ = event;
}
Event::~Event() {
  if (handle_) CUDA(cudaEventDestroy)(event_of(handle_));
}

void Event::record(void* stream) {
  check(CUDA(cudaEventRecord)(event_of(handle_), stream_of(stream)), "cudaEventRecord");
}

bool Event::ended() const {
  const auto code = CUDA(cudaEventQuery)(event_of(handle_));
  if (code == cudaErrorNotReady) return false;
  check(code, "cudaEventQuery");
  return true;
}

const Streams& Streams::of(int device) {
  static auto& all = *new std::map<int, Streams>;  // CUDA is gone before statics are
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return all.try_emplace(device).first->second;
}

detail::Pool& pinned() {
  const auto allocate = [](std::size_t bytes) -> void* {
    void* memory = nullptr;
    return CUDA(cudaMallocHost)(&memory, bytes) == cudaSuccess ? memory : nullptr;
  };
  static auto& pool = *new detail::Pool(allocate, [](void* memory) { CUDA(cudaFreeHost)(memory); });
  return pool;
}

}  // namespace heatpp::cuda

#include <heatpp/comm/device/cuda/cuda.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/cuda/library.hpp>

#include <atomic>
#include <map>

#define CUDA(name) HEATPP_FROM(library(), name)
#define DRIVER(name) HEATPP_FROM(driver(), name)

namespace heatpp::cuda {
namespace {

std::atomic<bool> is_loaded{false};

const device::Library& library() {
  static const device::Library instance("HEATPP_CUDART", {"libcudart.so.13", "libcudart.so.12", "libcudart.so"});
  is_loaded = instance.loaded();
  return instance;
}

const device::Library& driver() {
  static const device::Library instance("HEATPP_CUDA", {"libcuda.so.1"});
  return instance;
}

void check_driver(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  detail::raise<CommError>(what, "got the error {} of CUDA's driver; expected success", static_cast<int>(code));
}

/// Returns the context of the device, which the runtime uses, too. It is kept while the program runs.
CUcontext context_of(int device) {
  static std::map<int, CUcontext> all;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto found = all.find(device);
  if (found != all.end()) return found->second;
  CUdevice handle = 0;
  CUcontext context = nullptr;
  check_driver(DRIVER(cuInit)(0), "cuInit");
  check_driver(DRIVER(cuDeviceGet)(&handle, device), "cuDeviceGet");
  check_driver(DRIVER(cuDevicePrimaryCtxRetain)(&context, handle), "cuDevicePrimaryCtxRetain");
  return all[device] = context;
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
  CUdevice device = -1;
  return DRIVER(cuCtxGetDevice)(&device) == CUDA_SUCCESS ? device : -1;
}

std::int64_t bus_address(int device) {
  char text[32] = {};
  check(CUDA(cudaDeviceGetPCIBusId)(text, sizeof text, device), "cudaDeviceGetPCIBusId");
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
    detail::raise<CommError>("device", "got the bus address \"{}\"; expected one such as 0000:3b:00.0", text);
  return std::int64_t{(domain & 0xffff) << 16 | (bus & 0xff) << 8 | (slot & 0x1f) << 3 | (function & 7)};
}

OnDevice::OnDevice(int device) { check_driver(DRIVER(cuCtxPushCurrent)(context_of(device)), "cuCtxPushCurrent"); }
OnDevice::~OnDevice() {
  CUcontext ours = nullptr;
  DRIVER(cuCtxPopCurrent)(&ours);
}

Stream::Stream() {
  cudaStream_t stream = nullptr;
  check(CUDA(cudaStreamCreateWithFlags)(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  handle_ = stream;
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

Event::Event() : device_(current_device()) {
  cudaEvent_t event = nullptr;
  check(CUDA(cudaEventCreateWithFlags)(&event, cudaEventDisableTiming), "cudaEventCreate");
  handle_ = event;
}
Event::~Event() {
  if (!handle_) return;
  const OnDevice guard(device_);
  CUDA(cudaEventDestroy)(event_of(handle_));
}

void Event::record(void* stream) {
  check(CUDA(cudaEventRecord)(event_of(handle_), stream_of(stream)), "cudaEventRecord");
}

bool Event::ended() const {
  const OnDevice guard(device_);
  const auto code = CUDA(cudaEventQuery)(event_of(handle_));
  if (code == cudaErrorNotReady) return false;
  check(code, "cudaEventQuery");
  return true;
}

void Event::hold(void* stream) const {
  check(CUDA(cudaStreamWaitEvent)(stream_of(stream), event_of(handle_), 0), "cudaStreamWaitEvent");
}

const Streams& Streams::of(int device) {
  static auto& all = *new std::map<int, Streams>;  // CUDA ends before static objects do
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const OnDevice guard(device);
  return all.try_emplace(device).first->second;
}

detail::Pool& pinned() {
  static std::atomic<int> device{0};  // device of the latest block: any device with a context can free it
  const auto allocate = [](std::size_t bytes) -> void* {
    void* memory = nullptr;
    device = current_device();
    return CUDA(cudaMallocHost)(&memory, bytes) == cudaSuccess ? memory : nullptr;
  };
  const auto free = [](void* memory) {
    const OnDevice guard(device);
    CUDA(cudaFreeHost)(memory);
  };
  static auto& pool = *new detail::Pool(allocate, free);
  return pool;
}

}  // namespace heatpp::cuda

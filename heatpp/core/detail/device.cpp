#include <dlfcn.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/device.hpp>

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace heatpp {
namespace {

bool has_driver() {
  static const bool found = ::dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
  return found;
}

}  // namespace

// Mapping CUDA's libraries takes longer than the rest of a program's start, so only a request for a GPU does it.
int gpu_count() {
  static const bool works = (c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA) ||
                             (has_driver() && ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL))) &&
                            at::hasCUDA();
  return works ? at::detail::getCUDAHooks().deviceCount() : 0;
}

at::Device detail::to_torch(const Device& device) {
  if (device.type == Device::Type::cpu) return at::kCPU;
  const int gpus = gpu_count();
  if (device.index >= 0 && device.index < gpus) return {at::kCUDA, static_cast<at::DeviceIndex>(device.index)};
  raise<ValueError>("to_device", "got {}; expected the number of a GPU, of which there are {}{}", to_string(device),
                    gpus,
                    gpus == 0 && has_driver()
                        ? ": LibTorch has no CUDA, or was used before its CUDA libraries were loaded, which a build "
                          "with HEATPP_CUDA=ON does at the start"
                        : "");
}

}  // namespace heatpp

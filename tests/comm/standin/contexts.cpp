// Contexts of devices: the driver keeps them for each thread, and the runtime makes them.
#include "control.hpp"
#include "device.hpp"

#include <cuda.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct CUctx_st {
  int device = 0;
  bool made = false;
};

namespace {

std::array<CUctx_st, standin::devices>& contexts() {
  static std::array<CUctx_st, standin::devices> all{CUctx_st{0}, CUctx_st{1}};
  return all;
}

// The current one is last. The stack lives until the program's last array ends.
thread_local std::vector<CUcontext>& stack = *new std::vector<CUcontext>();
bool driver_initialized = false;
std::string latest_misuse;  // NOLINT: as the others

CUcontext made(int device) {
  auto& context = contexts()[static_cast<std::size_t>(device)];
  context.made = true;
  return &context;
}

bool exists(int device) { return device >= 0 && device < standin::devices; }

}  // namespace

standin::Lock::Lock()
    : guard_([]() -> std::recursive_mutex& {
        static std::recursive_mutex mutex;
        return mutex;
      }()) {}

void standin::misuse(std::string text) { latest_misuse = std::move(text); }

int standin::get_device() { return stack.empty() || !stack.back() ? 0 : stack.back()->device; }
void standin::set_device(int device) {
  if (stack.empty()) stack.push_back(nullptr);
  stack.back() = made(device);
}
int standin::use_device() {
  const int device = get_device();
  if (stack.empty() || !stack.back()) set_device(device);
  return device;
}

extern "C" {

int standin_has_context(int device) {
  const standin::Lock lock;
  return contexts()[static_cast<std::size_t>(device)].made;
}
int standin_current() { return stack.empty() || !stack.back() ? -1 : stack.back()->device; }
const char* standin_misuse() {
  const standin::Lock lock;
  static thread_local std::string told;
  told = std::exchange(latest_misuse, {});
  return told.c_str();
}

const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in"; }
cudaError_t cudaGetDeviceCount(int* count) {
  cuInit(0);
  *count = standin::devices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = standin::get_device();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  const standin::Lock lock;
  if (!exists(device)) return cudaErrorInvalidDevice;
  standin::set_device(device);
  return cudaSuccess;
}

/// Every rank has its own devices, or STANDIN_DEVICES ranks have.
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const ranks = std::getenv("STANDIN_DEVICES");
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:%02X.0", ranks ? rank % std::atoi(ranks) : rank,
                device);
  return cudaSuccess;
}

CUresult cuInit(unsigned) {
  const standin::Lock lock;
  driver_initialized = true;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!driver_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!exists(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const standin::Lock lock;
  if (!driver_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!exists(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = made(device);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (!driver_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (stack.empty() || !stack.back()) return CUDA_ERROR_INVALID_CONTEXT;
  *device = stack.back()->device;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}
}

#include "libraries.hpp"

#include "text.hpp"

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <hdf5.h>
#include <heatpp/comm/device/cuda/library.hpp>
#include <mpi.h>
#include <torch/version.h>
#if HEATPP_HAS_NETCDF
#include <netcdf.h>
#endif

#include <array>

namespace tools {

using heatpp::device::Library;

namespace {

/// CUDA's number for 12.4 is 12040.
std::string cuda_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string first_line(std::string text) { return text.substr(0, text.find_first_of(",\n")); }

const Library& driver() {
  static const Library library("HEATPP_CUDA", {"libcuda.so.1"});
  return library;
}

/// Returns a number from a function of the library.
std::optional<int> told_by(const Library& library, const char* function) {
  int value = 0;
  if (!library.loaded() || library.function<int (*)(int*)>(function)(&value) != 0) return std::nullopt;
  return value;
}

}  // namespace

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0, major = 0, minor = 0;
  MPI_Get_library_version(text.data(), &length);
  MPI_Get_version(&major, &minor);
  return fmt::format("{} (MPI {}.{})", first_line(text.data()), major, minor);
}

std::string mpi_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return "multiple";
  return level == MPI_THREAD_SERIALIZED ? "serialized" : level == MPI_THREAD_FUNNELED ? "funneled" : "single";
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}, parallel", major, minor, release);
}

std::optional<std::string> netcdf_version() {
#if HEATPP_HAS_NETCDF
  const std::string text = nc_inq_libvers();
  return text.substr(0, text.find(' '));
#else
  return std::nullopt;
#endif
}

std::string torch_version() { return fmt::format("{}, {}", TORCH_VERSION, at::get_cpu_capability()); }

std::optional<std::string> cuda_runtime() {
  static const Library library("HEATPP_CUDART", {"libcudart.so.13", "libcudart.so.12", "libcudart.so"});
  const auto version = told_by(library, "cudaRuntimeGetVersion");
  return version ? std::optional(cuda_text(*version)) : std::nullopt;
}

std::optional<std::string> cuda_driver() {
  const auto version = told_by(driver(), "cuDriverGetVersion");
  return version ? std::optional(cuda_text(*version)) : std::nullopt;
}

std::optional<std::string> nccl_version() {
  static const Library library("HEATPP_NCCL", {"libnccl.so.2", "libnccl.so"});
  const auto version = told_by(library, "ncclGetVersion");
  if (!version) return std::nullopt;
  return fmt::format("{}.{}.{}", *version / 10000, *version / 100 % 100, *version % 100);
}

std::vector<std::string> gpus() {
  int count = 0;
  std::vector<std::string> all;
  if (!driver().loaded() || driver().function<int (*)(unsigned)>("cuInit")(0) != 0 ||
      driver().function<int (*)(int*)>("cuDeviceGetCount")(&count) != 0)
    return all;
  for (int device = 0; device < count; ++device) {
    std::array<char, 256> name{};
    std::size_t bytes = 0;
    driver().function<int (*)(char*, int, int)>("cuDeviceGetName")(name.data(), std::ssize(name), device);
    driver().function<int (*)(std::size_t*, int)>("cuDeviceTotalMem_v2")(&bytes, device);
    all.push_back(fmt::format("{}, {}", name.data(), bytes_text(static_cast<double>(bytes))));
  }
  return all;
}

}  // namespace tools

#include "detail/libraries.hpp"
#include "detail/text.hpp"
#include "tool.hpp"

#include <ATen/Parallel.h>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/recovery/detail/ulfm.hpp>
#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <mpi.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

extern char** environ;

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

/// Adds something that heatpp could use, what is missing without it, and how to get it.
void need(Json& missing, bool there, const std::string& text) {
  if (!there) missing.push_back(text);
}

Json libraries() {
  const auto or_none = [](const std::optional<std::string>& version) { return version ? Json(*version) : Json(); };
  return {{"heatpp", HEATPP_VERSION},
          {"MPI", mpi_version()},
          {"HDF5", hdf5_version()},
          {"netCDF", or_none(netcdf_version())},
          {"LibTorch", torch_version()},
          {"CUDA runtime", or_none(cuda_runtime())},
          {"CUDA driver", or_none(cuda_driver())},
          {"NCCL", or_none(nccl_version())}};
}

/// Returns the ranks of each host, in the order of the ranks. Collective.
Json hosts() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  std::vector<char> all(name.size() * static_cast<std::size_t>(ht::world().size()));
  MPI_Allgather(name.data(), std::ssize(name), MPI_CHAR, all.data(), std::ssize(name), MPI_CHAR,
                ht::to_mpi(ht::world()));
  Json counted = Json::object();
  for (std::size_t rank = 0; rank < all.size(); rank += name.size()) {
    auto& count = counted[all.data() + rank];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  return counted;
}

Json machine() {
  struct sysinfo memory {};
  ::sysinfo(&memory);
  const auto bytes = static_cast<double>(memory.totalram) * memory.mem_unit;
  return {{"ranks", ht::world().size()},
          {"ranks of each host", hosts()},
          {"cores of this host", ::sysconf(_SC_NPROCESSORS_ONLN)},
          {"threads of a rank", at::get_num_threads()},
          {"memory of this host", bytes_text(bytes)},
          {"MPI calls from", mpi_threads() + " threads"},
          {"if a rank ends, the program",
           ht::detail::fate_of_others(ht::detail::ulfm::is_there(), ht::detail::ulfm::is_on())},
          {"GPUs of this host", gpus()}};
}

std::string of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Returns those of these variables that are set.
std::string set_of(std::initializer_list<const char*> names) {
  std::string text;
  for (const auto* name : names)
    if (const auto value = of_environment(name); !value.empty()) text += fmt::format(" {}={}", name, value);
  return text;
}

/// Returns the transport of messages, level by level.
Json wires(const ht::Topology& topology) {
  const auto told = set_of({"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl", "UCX_TLS", "FI_PROVIDER"});
  const auto messages = "MPI's messages" + (told.empty() ? "" : "," + told);
  Json all;
  for (std::size_t i = 0; i < topology.levels().size(); ++i) {
    const auto& level = topology.levels()[i];
    const bool shared = static_cast<int>(i) <= topology.state().memory.level;
    all["ranks of a " + level.name] = level.group.size() == 1 ? "one rank" : shared ? "shared memory" : messages;
  }
  const auto backend = of_environment("HEATPP_BACKEND");
  all["memory of GPUs"] = !backend.empty()                  ? backend
                          : nccl_version() && cuda_driver() ? "NCCL"
                          : cuda_driver()                   ? "copies to the host, MPI"
                                                            : "no GPU";
  return all;
}

/// Returns the environment variables of heatpp, in order.
Json settings() {
  std::map<std::string, std::string> all;
  for (auto* entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const auto equal = text.find('=');
    if (text.starts_with("HEATPP_") && equal != text.npos) all.emplace(text.substr(0, equal), text.substr(equal + 1));
  }
  return all.empty() ? Json::object() : Json(all);
}

Json missing() {
  Json all = Json::array();
  need(all, ht::io::supports_netcdf(), "netCDF files: install libnetcdf-mpi-dev (Debian) and build heatpp again");
  need(all, ht::io::supports_subfiling(),
       "HDF5's subfiles: build heatpp with HDF5 1.14 that has its subfiling driver (docs/file-formats.md)");
  need(all, HEATPP_HAS_LIBDEFLATE, "fast gzip in HDF5: install libdeflate-dev (Debian) and build heatpp again");
  need(all, HEATPP_HAS_HWLOC, "processor packages as a level: install libhwloc-dev (Debian) and build heatpp again");
  need(all, HEATPP_HAS_PETSC, "PETSc's solvers: install petsc-dev (Debian) and build heatpp again");
  need(all, cuda_driver().has_value(), "GPUs: no driver (libcuda.so.1); install NVIDIA's driver");
  need(all, !cuda_driver() || cuda_runtime(),
       "memory of GPUs in communication: install CUDA's runtime, or name it in HEATPP_CUDART");
  need(all, !cuda_driver() || nccl_version(),
       "NCCL: install libnccl2, or name it in HEATPP_NCCL; copies to the host serve instead");
  need(all, !of_environment("HEATPP_CALIBRATION").empty(),
       "measured all-reduces: run `heatpp calibrate --output FILE`, and set HEATPP_CALIBRATION=FILE");
  return all;
}

void show(bool json) {
  const ht::Topology topology(ht::world());
  const Json all{{"libraries", libraries()}, {"machine", machine()},   {"topology", ht::comm::describe(topology)},
                 {"wires", wires(topology)}, {"settings", settings()}, {"missing", missing()}};
  print(json ? json_text(all) : lines_of(all));
}

}  // namespace

Run add_info(CLI::App& command) {
  const auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "print JSON");
  return [json] { show(*json); };
}

}  // namespace tools

#include <heatpp/comm/device/backend.hpp>

#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/device/cuda/cuda_aware.hpp>
#include <heatpp/comm/device/resources.hpp>

#include <algorithm>

namespace heatpp::device {
namespace {

using detail::Tree;

Backend parse(const char* op, std::string_view name) {
  constexpr std::array names{"nccl", "mpi", "staged"};
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    detail::raise<ValueError>(op, "got the backend \"{}\" in HEATPP_BACKEND; expected nccl, mpi or staged", name);
  return static_cast<Backend>(found - names.begin());
}

/// The names in HEATPP_BACKEND=node,across; a single name is for both.
struct Wanted {
  std::optional<Backend> node, across;
};
Wanted wanted(const char* op, const Communicator& comm) {
  const std::string_view text = comm.impl().settings->backend;
  if (text.empty()) return {};
  const auto comma = std::min(text.find(','), text.size());
  const auto node = parse(op, text.substr(0, comma));
  return {node, comma < text.size() ? parse(op, text.substr(comma + 1)) : node};
}

Backend choose(const char* op, std::optional<Backend> wanted, bool nccl_works) {
  if (wanted == Backend::nccl && !nccl_works)
    detail::raise<ValueError>(op,
                              "got HEATPP_BACKEND=nccl where NCCL is missing or ranks share a device; expected mpi "
                              "or staged");
  if (wanted) return *wanted;
  if (nccl_works) return Backend::nccl;
  return mpi_is_cuda_aware() ? Backend::mpi : Backend::staged;
}

/// Whether the ranks of each node have different devices.
bool apart_in_nodes(const Tree& tree, int node_level, std::span<const std::int64_t> devices) {
  if (tree.level() > node_level) {
    bool all_apart = true;
    for_each_child(tree,
                   [&](const Tree& child) { all_apart = all_apart && apart_in_nodes(child, node_level, devices); });
    return all_apart;
  }
  std::vector<std::int64_t> mine;
  for (const auto rank : ranks_of(tree)) mine.push_back(devices[static_cast<std::size_t>(rank)]);
  return apart(mine);
}

/// Whether MPI's own functions reduce this. Other operations are the library's and not for device memory.
bool mpi_reduces(Dtype dtype, ReduceOp op) {
  if (detail::is_float16(dtype) || op == ReduceOp::mean) return false;
  const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
  return !ordered || (dtype != Dtype::float32 && dtype != Dtype::float64);
}

}  // namespace

Backend backend_of(const char* op, const Communicator& comm, const Memory& memory) {
  return choose(op, wanted(op, comm).node, apart(Resources::of(comm, memory).devices()));
}

Backends backends_of(const char* op, const Topology& topology, const Memory& memory) {
  const auto& devices = Resources::of(topology.comm(), memory).devices();
  auto& state = topology.state();
  state.devices = devices;
  const auto [node, across] = wanted(op, topology.comm());
  return {choose(op, node, apart_in_nodes(state.tree, state.node_level, devices)), choose(op, across, apart(devices))};
}

Backend able(Backend backend, Dtype dtype, ReduceOp op) {
  if (backend == Backend::nccl && nccl::reduces(dtype, op)) return backend;
  if (backend == Backend::mpi && mpi_reduces(dtype, op)) return backend;
  return Backend::staged;
}

}  // namespace heatpp::device

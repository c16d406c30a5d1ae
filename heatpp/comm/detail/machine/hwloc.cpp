#include <heatpp/comm/detail/machine/hwloc.hpp>

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <memory>

namespace heatpp::detail {
namespace {

using Machine = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Cores = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

/// Whether a rank may run anywhere. Then it need not ask hwloc, which takes some milliseconds.
bool may_run_anywhere() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) >= ::sysconf(_SC_NPROCESSORS_ONLN);
}

/// Loads the machine's parts, only the packages.
Machine load_machine() {
  hwloc_topology_t machine = nullptr;
  if (hwloc_topology_init(&machine) != 0) return {nullptr, &hwloc_topology_destroy};
  Machine owned(machine, &hwloc_topology_destroy);
  hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(machine, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(machine) != 0) owned.reset();
  return owned;
}

}  // namespace

std::optional<int> package_of_this_rank() {
  if (may_run_anywhere()) return std::nullopt;
  const auto machine = load_machine();
  const Cores cores(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (!machine || hwloc_get_cpubind(machine.get(), cores.get(), HWLOC_CPUBIND_THREAD) != 0) return std::nullopt;
  hwloc_obj_t package = nullptr;
  while ((package = hwloc_get_next_obj_by_type(machine.get(), HWLOC_OBJ_PACKAGE, package)))
    if (hwloc_bitmap_isincluded(cores.get(), package->cpuset)) return static_cast<int>(package->logical_index);
  return std::nullopt;
}

}  // namespace heatpp::detail

// Stands in for io.cpp where heatpp::io is not built.
#include "../workload.hpp"

namespace bench {

std::vector<Workload> io_workloads() { return {}; }

}  // namespace bench

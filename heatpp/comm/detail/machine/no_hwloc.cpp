#include <heatpp/comm/detail/machine/hwloc.hpp>

namespace heatpp::detail {

std::optional<int> package_of_this_rank() { return std::nullopt; }

}  // namespace heatpp::detail

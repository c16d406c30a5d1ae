#pragma once

#include <optional>

namespace heatpp::detail {

/// Returns the number of the processor package that this rank is bound to. Returns nothing if it may run on several, or
/// if the hwloc library was not found at build time.
[[nodiscard]] std::optional<int> package_of_this_rank();

}  // namespace heatpp::detail

#pragma once

#include <optional>

namespace heatpp::detail {

/// The number of the processor package that this rank is bound to; nothing where it may run on several, or the hwloc
/// library was not found at build time.
[[nodiscard]] std::optional<int> package_of_this_rank();

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns `x` under a layout that does not cut `axis`: the ranks along it cut another axis instead, by an exchange
/// between these ranks only. That is the longest uncut axis, if it has an index for each of them, else the one with the
/// longest parts, of which each is cut again. `x` has another axis. Nothing is sent if `axis` is not cut.
[[nodiscard]] DNDarray with_whole_lines(const DNDarray& x, int axis);

/// Returns which of the axes should be transformed next, so that few exchanges are needed: one that is not cut, the
/// last of these first; else that next to an uncut one, which then takes its cut.
[[nodiscard]] std::size_t next_axis(const Layout& layout, const std::vector<int>& axes);

}  // namespace heatpp::detail

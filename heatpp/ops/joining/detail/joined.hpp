#pragma once

#include <heatpp/ops/joining/join.hpp>

namespace heatpp::detail {

/// Joins the parts along `axis` under `target`. Along its split: one exchange, after one for each part that is cut
/// along another axis.
[[nodiscard]] DNDarray joined(const char* op, const Arrays& parts, int axis, const Layout& target);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Makes an array of layout `target` whose index i along `axis` is that of `x` at (start + i) modulo its extent, 0 <=
/// start; the other axes are those of `x`. `target` is cut where `x` is. Along the split: one exchange, in which each
/// rank gets each needed index once. Along others: local.
[[nodiscard]] DNDarray cyclic(const char* op, const DNDarray& x, int axis, std::int64_t start, const Layout& target);

}  // namespace heatpp::detail

#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Returns the positions of the elements that are not 0, in C order: one array of int64 for each axis. A split array
/// gives arrays split along axis 0, cut unevenly as the elements lie; if it is split along another axis its truth
/// values are first recut along axis 0. Collective: the ranks' counts, and that exchange. Throws ValueError for arrays
/// without axes.
[[nodiscard]] std::vector<DNDarray> nonzero(const DNDarray& x);
[[nodiscard]] inline std::vector<DNDarray> where(const DNDarray& condition) { return nonzero(condition); }
/// Returns the positions of `nonzero` as one array: a row for each element, a column for each axis.
[[nodiscard]] DNDarray argwhere(const DNDarray& x);
/// Returns positions in the flattened array.
[[nodiscard]] DNDarray flatnonzero(const DNDarray& x);

}  // namespace heatpp

#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Returns the elements in C order in another shape; one extent may be -1. If all axes up to the split keep their
/// extents: local, the split stays, memory is shared if possible. Otherwise the result is split along axis 0, evenly,
/// and each element moves at most twice: to a cut along axis 0 if it is split elsewhere, and to its place. Collective.
/// Throws ValueError for another number of elements.
[[nodiscard]] DNDarray reshape(const DNDarray& x, const Shape& shape);
/// The axis that runs fastest when elements are counted: the last one, or, as in Fortran, the first one.
enum class Order { C, F };
/// Reshapes in another order: through the transposed array, which is then split along its last axis.
[[nodiscard]] DNDarray reshape(const DNDarray& x, const Shape& shape, Order order);
/// Does reshape(x, {-1}).
[[nodiscard]] DNDarray flatten(const DNDarray& x, Order order = Order::C);
[[nodiscard]] inline DNDarray ravel(const DNDarray& x, Order order = Order::C) { return flatten(x, order); }

}  // namespace heatpp

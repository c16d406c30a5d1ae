#pragma once

#include <functional>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Applies f to every line of `x` along `axis`. f gets it as a vector that this rank holds alone (on `self()`) and
/// returns an array there, always of one shape and dtype, whose axes replace `axis`. It is called for each line, so use
/// it only if no other function serves. Along the split axis `x` is first recut along its longest other axis, or
/// brought to every rank if it has none. Collective: f must communicate only on `self()`; if it throws on one rank, all
/// ranks throw. Throws ValueError if there is no line, or if f's results differ in shape.
[[nodiscard]] DNDarray apply_along_axis(const std::function<DNDarray(const DNDarray&)>& f, int axis, const DNDarray& x);

/// Computes f(f(x, axes[0]), axes[1]) and so on. f reduces one axis; if f removes it, it stays with extent 1.
[[nodiscard]] DNDarray apply_over_axes(const std::function<DNDarray(const DNDarray&, int)>& f, const DNDarray& x,
                                       const Axes& axes);

}  // namespace heatpp

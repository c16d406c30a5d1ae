#pragma once

#include <functional>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// f of every line of `x` along `axis`: f gets it as a vector that this rank holds alone (on `self()`) and gives an
/// array there, always of one shape and dtype, whose axes take the place of `axis`. For functions that have no other
/// way: it is called for each line. Along the split axis `x` is first recut along its longest other axis, or brought to
/// every rank where it has no other. Collective: f must not communicate but on `self()`, and what it throws on one rank
/// all ranks throw. Throws ValueError where there is no line, or f's results differ in shape.
[[nodiscard]] DNDarray apply_along_axis(const std::function<DNDarray(const DNDarray&)>& f, int axis, const DNDarray& x);

/// f(f(x, axes[0]), axes[1]) and so on, where f reduces one axis, which stays with extent 1 if f takes it away.
[[nodiscard]] DNDarray apply_over_axes(const std::function<DNDarray(const DNDarray&, int)>& f, const DNDarray& x,
                                       const Axes& axes);

}  // namespace heatpp

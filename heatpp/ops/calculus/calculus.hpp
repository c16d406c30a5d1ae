#pragma once

#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

struct DiffOptions {
  int n = 1;  ///< how often to take differences
  int axis = -1;
  /// Values before the first element. A number is one index of int64, float64 or complex128, as in NumPy.
  std::optional<KeptOperand> prepend = std::nullopt;
  std::optional<KeptOperand> append = std::nullopt;  ///< values behind the last element
};
/// Returns x[i + 1] - x[i] along `axis`; for bool, whether they differ. Along the split each rank gets its neighbor's
/// first index.
[[nodiscard]] DNDarray diff(const DNDarray& x, const DiffOptions& options = {});

struct GradientOptions {
  int axis = 0;
  double spacing = 1;                                  ///< distance between two indices
  std::optional<DNDarray> coordinates = std::nullopt;  ///< coordinates of the indices, instead of a spacing
  int edge_order = 1;                                  ///< 1 or 2: number of differences at the ends
};
/// Returns the derivative along `axis`: second-order differences inside, one-sided at the ends, in x's layout. Along
/// the split each rank gets its neighbors' nearest index. Evenly spaced coordinates are treated as a spacing, which
/// costs two numbers if they are split; with uneven ones an infinite element has no derivative. Throws ValueError for
/// fewer than edge_order + 1 indices.
[[nodiscard]] DNDarray gradient(const DNDarray& x, const GradientOptions& options = {});

struct GradientsOptions {
  Axes axis = std::nullopt;  ///< nullopt: all axes in their order
  /// For each axis a distance or the coordinates of its indices, or one distance for all axes; empty: 1.
  std::vector<KeptOperand> spacing = {};
  int edge_order = 1;  ///< as in GradientOptions
};
/// Returns the derivatives along several axes, as NumPy's gradient does if it returns several arrays. Each costs what
/// gradient does. Throws ValueError for an axis named twice and another number of spacings.
[[nodiscard]] Arrays gradients(const DNDarray& x, const GradientsOptions& options = {});

struct TrapezoidOptions {
  int axis = -1;
  double dx = 1;
  std::optional<DNDarray> x = std::nullopt;  ///< coordinates of the indices, instead of a distance
};
/// Integrates `y` along `axis` by the trapezoidal rule. Communicates as diff and sum.
[[nodiscard]] DNDarray trapezoid(const DNDarray& y, const TrapezoidOptions& options = {});

struct InterpOptions {
  std::optional<double> left = std::nullopt;    ///< value before the first point; nullopt: the first value
  std::optional<double> right = std::nullopt;   ///< value behind the last point; nullopt: the last value
  std::optional<double> period = std::nullopt;  ///< period of the function; the points may then lie in any order
};
/// Interpolates linearly between the points (xp, fp) at `x`, with xp rising, in float64, or complex128 for complex fp.
/// Every rank gets the points; then local. Throws ValueError unless the points are two vectors of equal length,
/// TypeError for complex x and xp, CommError for different communicators.
[[nodiscard]] DNDarray interp(const DNDarray& x, const std::pair<DNDarray, DNDarray>& points,
                              const InterpOptions& options = {});

struct UnwrapOptions {
  int axis = -1;
  double period = 6.283185307179586476925;
  std::optional<double> discont = std::nullopt;  ///< smaller jumps stay; nullopt: half the period
};
/// Adds multiples of the period to `x` so that neighbors differ by at most half of it. Communicates as diff and
/// cumsum.
[[nodiscard]] DNDarray unwrap(const DNDarray& x, const UnwrapOptions& options = {});

}  // namespace heatpp

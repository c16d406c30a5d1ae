#pragma once

#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

struct DiffOptions {
  int n = 1;  ///< how often
  int axis = -1;
  /// What stands before the first element; a number is one index of int64, float64 or complex128, as in NumPy.
  std::optional<KeptOperand> prepend = std::nullopt;
  std::optional<KeptOperand> append = std::nullopt;  ///< and behind the last
};
/// x[i + 1] - x[i] along `axis`; of bool whether they differ. Along the split each rank gets its neighbour's first
/// index.
[[nodiscard]] DNDarray diff(const DNDarray& x, const DiffOptions& options = {});

struct GradientOptions {
  int axis = 0;
  double spacing = 1;                                  ///< distance of two indices
  std::optional<DNDarray> coordinates = std::nullopt;  ///< where the indices lie, instead of a spacing
  int edge_order = 1;                                  ///< 1 or 2: how many differences are used at the ends
};
/// The derivative along `axis`: second-order differences inside, one-sided at the ends, in x's layout. Along the split
/// each rank gets its neighbours' nearest index. Coordinates at one distance are a spacing, which costs two numbers
/// where they are split; at others there is no derivative at an infinite element. Throws ValueError for fewer than
/// edge_order + 1 indices.
[[nodiscard]] DNDarray gradient(const DNDarray& x, const GradientOptions& options = {});

struct GradientsOptions {
  Axes axis = std::nullopt;  ///< nullopt: all, in their order
  /// For each axis a distance or where the indices lie, or one distance for all; none: 1.
  std::vector<KeptOperand> spacing = {};
  int edge_order = 1;  ///< as of gradient
};
/// The derivatives along several axes: NumPy's gradient where it gives several arrays. Each costs what gradient does.
/// Throws ValueError for an axis named twice and another number of spacings.
[[nodiscard]] Arrays gradients(const DNDarray& x, const GradientsOptions& options = {});

struct TrapezoidOptions {
  int axis = -1;
  double dx = 1;
  std::optional<DNDarray> x = std::nullopt;  ///< where the indices lie, instead of a distance
};
/// The integral of `y` along `axis` by the trapezoidal rule. Communicates as diff and sum.
[[nodiscard]] DNDarray trapezoid(const DNDarray& y, const TrapezoidOptions& options = {});

struct InterpOptions {
  std::optional<double> left = std::nullopt;    ///< before the first point; nullopt: the first value
  std::optional<double> right = std::nullopt;   ///< behind the last point; nullopt: the last value
  std::optional<double> period = std::nullopt;  ///< of the function; then the points may lie in any order
};
/// Straight lines through the points (xp, fp), xp rising, at `x`, in float64, or complex128 of complex fp. Every rank
/// gets the points; then local. Throws ValueError for points that are no two vectors alike, TypeError for complex x,
/// xp, CommError for different communicators.
[[nodiscard]] DNDarray interp(const DNDarray& x, const std::pair<DNDarray, DNDarray>& points,
                              const InterpOptions& options = {});

struct UnwrapOptions {
  int axis = -1;
  double period = 6.283185307179586476925;
  std::optional<double> discont = std::nullopt;  ///< jumps below this stay; nullopt: half the period
};
/// `x` with multiples of the period added such that neighbours differ by no more than half of it. Communicates as diff
/// and cumsum.
[[nodiscard]] DNDarray unwrap(const DNDarray& x, const UnwrapOptions& options = {});

}  // namespace heatpp

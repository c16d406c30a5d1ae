#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Options of var and std.
struct VarOptions {
  Axes axis = std::nullopt;                         ///< nullopt: all axes
  std::optional<Dtype> dtype = std::nullopt;        ///< dtype of the result; elements are converted first; not whole
  double ddof = 0;                                  ///< the sum of squares is divided by n - ddof
  bool keepdims = false;                            ///< keep reduced axes with extent 1
  std::optional<DNDarray> where = std::nullopt;     ///< bool, broadcast to `x`: the elements that take part
  std::optional<double> correction = std::nullopt;  ///< the array API's name of ddof, which it replaces
};

/// The first four moments of the elements, computed together.
struct Moments {
  DNDarray mean, var, skew, kurtosis;
};

/// Computes mean, variance, skewness and excess kurtosis (Fisher's; biased, as SciPy's defaults) in one pass over
/// memory and, if the split axis is reduced, one allreduce of 48 bytes for each result. Computed in float64: block by
/// block about the block's own mean; blocks are merged by the formulas of Pébay (Sandia report SAND2008-6212, 2008).
/// Floats keep their dtype, whole numbers give that of inexact_type. Results are split as those of `sum`. NaN elements
/// give NaN; moments of no elements are NaN, and so are skewness and kurtosis of equal elements. Throws IndexError,
/// ValueError and TypeError as `sum`, ValueError for an `initial`, and TypeError for complex arrays, for which only
/// mean, var and std are defined.
[[nodiscard]] Moments moments(const DNDarray& x, const ReduceOptions& options = {});
/// Return the moment of that name, or the root of the variance. They neither compute nor send more: 16 bytes for a
/// mean, 32 for var and std.
[[nodiscard]] DNDarray mean(const DNDarray& x, const ReduceOptions& options = {});
[[nodiscard]] DNDarray var(const DNDarray& x, const VarOptions& options = {});
[[nodiscard]] DNDarray std(const DNDarray& x, const VarOptions& options = {});
[[nodiscard]] DNDarray skew(const DNDarray& x, const ReduceOptions& options = {});
[[nodiscard]] DNDarray kurtosis(const DNDarray& x, const ReduceOptions& options = {});

struct AverageOptions {
  Axes axis = std::nullopt;                        ///< nullopt: all axes
  std::optional<DNDarray> weights = std::nullopt;  ///< x's shape, or of the axes' in their order; nullopt: all equal
  bool keepdims = false;
};
/// Returns the mean with weights, sum(x * w) / sum(w). Communicates as two sums, and one truth value if the sums of
/// weights are split. Throws ValueError for weights of other shapes (without an axis TypeError) and for weights that
/// sum to 0.
[[nodiscard]] DNDarray average(const DNDarray& x, const AverageOptions& options = {});
/// The average, and the sums of weights in its shape: NumPy's average with `returned`.
struct Average {
  DNDarray average, weights;
};
HEATPP_OVER_AXES(DNDarray, average, AverageOptions)
[[nodiscard]] Average average_returned(const DNDarray& x, const AverageOptions& options = {});

HEATPP_OVER_AXES(Moments, moments, ReduceOptions)
HEATPP_OVER_AXES(DNDarray, mean, ReduceOptions)
HEATPP_OVER_AXES(DNDarray, var, VarOptions)
HEATPP_OVER_AXES(DNDarray, std, VarOptions)
HEATPP_OVER_AXES(DNDarray, skew, ReduceOptions)
HEATPP_OVER_AXES(DNDarray, kurtosis, ReduceOptions)

}  // namespace heatpp

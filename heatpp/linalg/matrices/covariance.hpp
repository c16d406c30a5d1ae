#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

struct CovOptions {
  bool rowvar = true;                               ///< whether a variable is a row; otherwise a column
  bool bias = false;                                ///< divide by n, not n - 1
  std::optional<double> ddof = std::nullopt;        ///< divide by n - ddof instead
  std::optional<DNDarray> fweights = std::nullopt;  ///< number of times that each observation is repeated
  std::optional<DNDarray> aweights = std::nullopt;  ///< weight of each observation
};
/// Computes the covariance matrix of the variables of `x`, in float64, or complex128 for complex numbers, as NumPy; one
/// number for one variable. Communicates as `mean` and the product of the deviations with themselves
/// (`<heatpp/linalg/products/product.hpp>`). Collective. Throws ValueError for more than two axes, and for weights of
/// another length than the observations, with sum 0, or below 0, which costs one more allreduce if they are split;
/// TypeError for `fweights` that are no whole numbers.
[[nodiscard]] DNDarray cov(const DNDarray& x, const CovOptions& options = {});
/// Computes the covariance of the variables of `x` and of `y`, with the same observations, joined by `concatenate`. One
/// row of `y` is one variable.
[[nodiscard]] DNDarray cov(const DNDarray& x, const DNDarray& y, const CovOptions& options = {});
/// Computes the correlation coefficients: cov scaled to ones on the diagonal. Each variable is first divided by a power
/// of two near its largest number, so that no square overflows: one more all-reduce if observations are cut.
[[nodiscard]] DNDarray corrcoef(const DNDarray& x, const CovOptions& options = {});
[[nodiscard]] DNDarray corrcoef(const DNDarray& x, const DNDarray& y, const CovOptions& options = {});

}  // namespace heatpp

#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

struct CovOptions {
  bool rowvar = true;                               ///< a variable is a row; otherwise a column
  bool bias = false;                                ///< divide by n, not n - 1
  std::optional<double> ddof = std::nullopt;        ///< divide by n - ddof, whatever `bias` says
  std::optional<DNDarray> fweights = std::nullopt;  ///< how often each observation is repeated
  std::optional<DNDarray> aweights = std::nullopt;  ///< how much each observation counts
};
/// The covariance matrix of the variables of `x`, in float64, or complex128 for complex numbers, as NumPy has it; one
/// number for one variable. Communicates as
/// `mean` and the product of the deviations with themselves (`<heatpp/linalg/products/product.hpp>`). Collective.
/// Throws ValueError for more than two axes, weights of another length than the observations, with a sum of 0, and
/// below 0, which one more allreduce finds in split ones; TypeError for `fweights` that are no whole numbers.
[[nodiscard]] DNDarray cov(const DNDarray& x, const CovOptions& options = {});
/// The same of the variables of `x` and of `y`, of the same observations, joined by `concatenate`; one row of `y` is
/// one variable.
[[nodiscard]] DNDarray cov(const DNDarray& x, const DNDarray& y, const CovOptions& options = {});
/// The correlation coefficients: cov scaled to ones on the diagonal. Each variable is first divided by a power of two
/// near its largest number, so that no square leaves the dtype: that is one all-reduce more where observations are cut.
[[nodiscard]] DNDarray corrcoef(const DNDarray& x, const CovOptions& options = {});
[[nodiscard]] DNDarray corrcoef(const DNDarray& x, const DNDarray& y, const CovOptions& options = {});

}  // namespace heatpp

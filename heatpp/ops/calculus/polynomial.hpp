#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

// Polynomials are vectors of coefficients, the highest power first, or numbers, as in NumPy's poly functions. They are
// small, so every rank gets all of them. Values, sums, differences and products have the promoted dtype of the
// operands; derivatives of whole numbers are int64. All else is computed in float64 or complex128.

/// Evaluates the polynomial at `x`, in the layout of `x`. One pass. Local except for split coefficients.
[[nodiscard]] DNDarray polyval(const DNDarray& p, const DNDarray& x);
/// Return the sum and the difference of two polynomials.
[[nodiscard]] DNDarray polyadd(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray polysub(const DNDarray& a, const DNDarray& b);
/// Returns the product, with the leading zeros of both operands removed first.
[[nodiscard]] DNDarray polymul(const DNDarray& a, const DNDarray& b);
/// Returns quotient and remainder. Throws ValueError for a divisor that is 0 and if one has no coefficients.
[[nodiscard]] std::pair<DNDarray, DNDarray> polydiv(const DNDarray& a, const DNDarray& b);
/// Returns the `m`th derivative.
[[nodiscard]] DNDarray polyder(const DNDarray& p, int m = 1);
/// Returns the `m`th antiderivative. `constants` are in the order of the integrations, or one for all; without them
/// they are 0. Throws ValueError for too few constants.
[[nodiscard]] DNDarray polyint(const DNDarray& p, int m = 1, const std::vector<Scalar>& constants = {});
/// Returns the polynomial with these roots and leading coefficient 1 (the number 1 if there are none) or the
/// characteristic one of a square matrix; and the roots of a polynomial, as complex128: eigenvalues of its companion
/// matrix. Both throw ValueError if a matrix is not finite.
[[nodiscard]] DNDarray poly(const DNDarray& roots);
[[nodiscard]] DNDarray roots(const DNDarray& p);
struct PolyfitOptions {
  std::optional<DNDarray> weights = std::nullopt;  ///< factors for the difference at each point
  std::optional<double> rcond = std::nullopt;      ///< smaller singular values, relative to the largest, count as 0;
                                                   ///< nullopt: the number of points times float64's eps
};
/// Fits a polynomial of degree `degree` to the points (x, y) by least squares, in float64 or complex128. A matrix y
/// gives a column of coefficients for each of its columns. QR of each rank's rows, then of the ranks' triangles,
/// which are gathered (Demmel et al., LAPACK working note 204, 2008). Throws ValueError for fewer points than
/// coefficients, other lengths, and x or powers of it that are not finite. If y is not finite, the coefficients are
/// NaN.
[[nodiscard]] DNDarray polyfit(const DNDarray& x, const DNDarray& y, int degree, const PolyfitOptions& options = {});

}  // namespace heatpp

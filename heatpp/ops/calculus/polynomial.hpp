#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

// Polynomials are vectors of coefficients, the highest power first, or numbers, as NumPy's poly functions have them.
// They are small: every rank gets all of them. Values, sums, differences and products have the promoted dtype of the
// operands, derivatives of whole numbers int64; everything else is computed in float64 or complex128.

/// The polynomial at `x`, in the layout of `x`. One pass. Local but for split coefficients.
[[nodiscard]] DNDarray polyval(const DNDarray& p, const DNDarray& x);
/// The sum and the difference of two polynomials.
[[nodiscard]] DNDarray polyadd(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray polysub(const DNDarray& a, const DNDarray& b);
/// The product of both without their leading zeros.
[[nodiscard]] DNDarray polymul(const DNDarray& a, const DNDarray& b);
/// Quotient and remainder. Throws ValueError for a divisor that is 0, and where one has no coefficients.
[[nodiscard]] std::pair<DNDarray, DNDarray> polydiv(const DNDarray& a, const DNDarray& b);
/// The `m`th derivative.
[[nodiscard]] DNDarray polyder(const DNDarray& p, int m = 1);
/// The `m`th antiderivative, with `constants` in the order of the integrations, or one for all of them; where there are
/// none, 0. Throws ValueError for too few constants.
[[nodiscard]] DNDarray polyint(const DNDarray& p, int m = 1, const std::vector<Scalar>& constants = {});
/// The polynomial with these roots and leading coefficient 1, the number 1 for none, or the characteristic one of a
/// square matrix, and the roots of a polynomial, as complex128: eigenvalues of its companion matrix. Both
/// throw ValueError where a matrix is not finite.
[[nodiscard]] DNDarray poly(const DNDarray& roots);
[[nodiscard]] DNDarray roots(const DNDarray& p);
struct PolyfitOptions {
  std::optional<DNDarray> weights = std::nullopt;  ///< by which the difference of each point is multiplied
  std::optional<double> rcond = std::nullopt;      ///< singular values below this part of the largest count as 0;
                                                   ///< nullopt: the points' number times float64's eps
};
/// The polynomial of degree `degree` that fits the points (x, y) best in the sense of least squares, in float64 or
/// complex128; a column of polynomials for the columns of a matrix y. QR of each rank's rows, then of the ranks'
/// triangles, which are gathered (Demmel et al., LAPACK working note 204, 2008). Throws ValueError for fewer points
/// than coefficients, other lengths, and x or powers of it that are not finite; where y is not, the
/// coefficients are NaN.
[[nodiscard]] DNDarray polyfit(const DNDarray& x, const DNDarray& y, int degree, const PolyfitOptions& options = {});

}  // namespace heatpp

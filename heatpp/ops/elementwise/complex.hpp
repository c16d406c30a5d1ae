#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of one array. They are local and keep its layout. They throw TypeError for a dtype without the operation.

/// Returns the real part.
[[nodiscard]] DNDarray real(const DNDarray& x);
DNDarray real(const DNDarray& x, const OutOptions& options);

/// Returns the imaginary part; for real arrays zeros.
[[nodiscard]] DNDarray imag(const DNDarray& x);
DNDarray imag(const DNDarray& x, const OutOptions& options);

/// Returns the complex conjugate.
[[nodiscard]] DNDarray conj(const DNDarray& x);
DNDarray conj(const DNDarray& x, const OutOptions& options);
/// Another name of `conj`.
[[nodiscard]] inline DNDarray conjugate(const DNDarray& x) { return conj(x); }

/// Returns the angle of a complex number in radians.
[[nodiscard]] DNDarray angle(const DNDarray& x);
DNDarray angle(const DNDarray& x, const OutOptions& options);

/// Options of angle.
struct AngleOptions {
  bool deg = false;  ///< in degrees, not radians
};
/// Returns the angle of complex numbers in radians or degrees. Local.
[[nodiscard]] DNDarray angle(const DNDarray& x, const AngleOptions& options);

/// Returns whether the imaginary part is 0, as bool.
[[nodiscard]] DNDarray isreal(const DNDarray& x);
DNDarray isreal(const DNDarray& x, const OutOptions& options);

/// Returns whether the imaginary part is not 0, as bool.
[[nodiscard]] DNDarray iscomplex(const DNDarray& x);
DNDarray iscomplex(const DNDarray& x, const OutOptions& options);

}  // namespace heatpp

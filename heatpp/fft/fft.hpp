#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/axes.hpp>

// Discrete Fourier transforms by NumPy's rules. Results are complex64 or complex128 (inverse real transforms: float32
// or float64), as inexact_type of `x`; 16-bit floats give 32 bits. The split stays. Along other axes nothing is
// communicated. Along the split axis `x` is recut along its longest other axis, transformed, and recut back: two
// exchanges. If no other axis has an index for each rank, an axis of n = a * b elements is transformed as a matrix,
// first along one axis and then along the other (Gentleman and Sande, 1966): three exchanges. If n has no two factors
// of at least the number of ranks, it is a convolution of at least twice the length (Bluestein, 1970). A real transform
// of even length treats pairs as complex numbers, and exchanges its two halves. All are collective. Errors, on all
// ranks: IndexError for axes, ValueError for lengths below 1.
//
// An array on a grid of ranks is transformed by pencils: to transform along a cut axis, the ranks along it cut another
// axis instead, preferably an uncut one, in one exchange between these ranks only. A transform along one axis brings
// its result back to the grid. Transforms along several axes take next what is not cut, and leave the result where the
// last exchange brings it: fftn and rfftn of a 3-D array on p x q x 1 ranks need two exchanges and give one on 1 x p x
// q, of which ifftn and irfftn give one on p x q x 1. So an array of n x n x n has work for n * n ranks. If an axis is
// named twice, results come back to the grid after each one.
namespace heatpp::fft {

/// The transform that is divided by n: the inverse one, both by the root of n, or the forward one.
enum class Norm { backward, ortho, forward };
struct FftOptions {
  std::optional<std::int64_t> n = std::nullopt;  ///< length of the axis: cut, or filled with zeros; nullopt: unchanged
  int axis = -1;
  Norm norm = Norm::backward;
};
/// Compute the transform along one axis, and its inverse.
[[nodiscard]] DNDarray fft(const DNDarray& x, const FftOptions& options = {});
[[nodiscard]] DNDarray ifft(const DNDarray& x, const FftOptions& options = {});
/// Compute the first n / 2 + 1 numbers of the transform of a real array, and the real array from such numbers. `n` is
/// the length of the real axis, by default 2 (m - 1) for the inverse. They throw TypeError for complex arrays.
[[nodiscard]] DNDarray rfft(const DNDarray& x, const FftOptions& options = {});
[[nodiscard]] DNDarray irfft(const DNDarray& x, const FftOptions& options = {});
/// Compute the real transform of an array whose second half is the conjugate of the first, and its inverse.
[[nodiscard]] DNDarray hfft(const DNDarray& x, const FftOptions& options = {});
[[nodiscard]] DNDarray ihfft(const DNDarray& x, const FftOptions& options = {});

/// Transforms along `axis`, as all functions here; NumPy's second argument is the length, `{.n = 8}`.
#define HEATPP_FFT_ALONG_AXIS(name)                                             \
  [[nodiscard]] inline DNDarray name(const DNDarray& x, AxisNumber auto axis) { \
    return name(x, FftOptions{.axis = static_cast<int>(axis)});                 \
  }
HEATPP_FFT_ALONG_AXIS(fft)
HEATPP_FFT_ALONG_AXIS(ifft)
HEATPP_FFT_ALONG_AXIS(rfft)
HEATPP_FFT_ALONG_AXIS(irfft)
HEATPP_FFT_ALONG_AXIS(hfft)
HEATPP_FFT_ALONG_AXIS(ihfft)
#undef HEATPP_FFT_ALONG_AXIS

struct FftnOptions {
  std::optional<Shape> s = std::nullopt;  ///< length of each of the axes; -1: unchanged
  Axes axes = std::nullopt;               ///< nullopt: the last ones, as many as `s` has, or all
  Norm norm = Norm::backward;
};
/// Transform along several axes, one after another; real transforms halve the last of `axes`.
[[nodiscard]] DNDarray fftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ifftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray rfftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray irfftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray hfftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ihfftn(const DNDarray& x, const FftnOptions& options = {});
/// Do fftn and similar transforms along the last two axes unless others are given.
[[nodiscard]] DNDarray fft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ifft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray rfft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray irfft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray hfft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ihfft2(const DNDarray& x, const FftnOptions& options = {});

/// Return the frequencies of the n numbers of `fft`, or of the n / 2 + 1 numbers of `rfft`, for samples d apart, in the
/// default dtype unless one is given. Local. They throw ValueError for d = 0 and n < 1; for n < 0 rfftfreq has no
/// numbers.
[[nodiscard]] DNDarray fftfreq(std::int64_t n, double d = 1, const ArrayOptions& options = {});
[[nodiscard]] DNDarray rfftfreq(std::int64_t n, double d = 1, const ArrayOptions& options = {});
/// Move frequency 0 to the middle of the axes, by `roll`, and back.
[[nodiscard]] DNDarray fftshift(const DNDarray& x, const Axes& axes = std::nullopt);
[[nodiscard]] DNDarray ifftshift(const DNDarray& x, const Axes& axes = std::nullopt);

}  // namespace heatpp::fft

#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/axes.hpp>

// Discrete Fourier transforms by NumPy's rules. Results are complex64 or complex128 (real transforms back: float32 or
// float64), as inexact_type of `x`; 16-bit floats give 32 bits. The split stays. Along other axes nothing is
// communicated. Along the split axis `x` is recut along its longest other axis, transformed, and recut back: two
// exchanges. If no other axis has an index for each rank, an axis of n = a * b elements is transformed as a matrix,
// first along one axis and then along the other (Gentleman and Sande, 1966): three exchanges; where n has no two
// factors of at least the number of ranks, as a convolution of at least twice the length (Bluestein, 1970). Of a real
// transform of even length that is done with pairs as complex numbers, and its two halves are exchanged. All are
// collective. Errors, on all ranks: IndexError for axes, ValueError for lengths below 1.
namespace heatpp::fft {

/// Which of the two transforms is divided by n: the one back, both by its root, or the one forth.
enum class Norm { backward, ortho, forward };
struct FftOptions {
  std::optional<std::int64_t> n = std::nullopt;  ///< length of the axis: cut, or filled with zeros; nullopt: as it is
  int axis = -1;
  Norm norm = Norm::backward;
};
/// The transform along one axis, and back.
[[nodiscard]] DNDarray fft(const DNDarray& x, const FftOptions& options = {});
[[nodiscard]] DNDarray ifft(const DNDarray& x, const FftOptions& options = {});
/// The first n / 2 + 1 numbers of the transform of a real array, and the real array that such numbers come from; `n` is
/// the length of the real axis, for the latter 2 (m - 1) unless given. Throws TypeError for complex arrays.
[[nodiscard]] DNDarray rfft(const DNDarray& x, const FftOptions& options = {});
[[nodiscard]] DNDarray irfft(const DNDarray& x, const FftOptions& options = {});
/// The real transform of an array whose second half would be the conjugate of the first, and back.
[[nodiscard]] DNDarray hfft(const DNDarray& x, const FftOptions& options = {});
[[nodiscard]] DNDarray ihfft(const DNDarray& x, const FftOptions& options = {});

/// The same along `axis`, as every function here takes one; NumPy's second argument is the length, `{.n = 8}`.
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
  std::optional<Shape> s = std::nullopt;  ///< length of each of the axes; -1: as it is
  Axes axes = std::nullopt;               ///< nullopt: the last ones, as many as `s` has, or all
  Norm norm = Norm::backward;
};
/// The transforms along several axes, one after another; of real transforms the last of `axes` is the halved one.
[[nodiscard]] DNDarray fftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ifftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray rfftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray irfftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray hfftn(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ihfftn(const DNDarray& x, const FftnOptions& options = {});
/// fftn and its like along the last two axes unless others are given.
[[nodiscard]] DNDarray fft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ifft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray rfft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray irfft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray hfft2(const DNDarray& x, const FftnOptions& options = {});
[[nodiscard]] DNDarray ihfft2(const DNDarray& x, const FftnOptions& options = {});

/// The frequencies that the n numbers of `fft`, or the n / 2 + 1 ones of `rfft`, stand for, with samples d apart, in
/// the default dtype unless one is given. Local. Throws ValueError for d = 0 and n < 1; for n < 0 rfftfreq has no
/// numbers.
[[nodiscard]] DNDarray fftfreq(std::int64_t n, double d = 1, const ArrayOptions& options = {});
[[nodiscard]] DNDarray rfftfreq(std::int64_t n, double d = 1, const ArrayOptions& options = {});
/// Frequency 0 to the middle of the axes, by `roll`, and back.
[[nodiscard]] DNDarray fftshift(const DNDarray& x, const Axes& axes = std::nullopt);
[[nodiscard]] DNDarray ifftshift(const DNDarray& x, const Axes& axes = std::nullopt);

}  // namespace heatpp::fft

#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// The part of a convolution of n with m elements that is computed.
enum class ConvolveMode {
  full,   ///< all n + m - 1 elements
  same,   ///< max(n, m) elements around the middle
  valid,  ///< the max(n, m) - min(n, m) + 1 elements that need no values outside
};

struct ConvolveOptions {
  ConvolveMode mode = ConvolveMode::full;
  std::int64_t stride = 1;  ///< compute only every stride-th element
};

/// Convolves `a` with `v` along the last axis: element k is the sum of a[k - i] * v[i]. `v` has one axis, or the
/// leading axes of `a`. The longer one, cut along the last axis, stays in place and gives its cut to the result. Its
/// ends are sent to the neighbors in one exchange of m - 1 elements, while the inside is computed. The shorter one is
/// gathered if it is split. Whole numbers are exact modulo their range. Collective. Throws ValueError for empty
/// operands, leading axes that differ and a stride below 1.
[[nodiscard]] DNDarray convolve(const DNDarray& a, const DNDarray& v, const ConvolveOptions& options = {});

/// Correlates `a` with `v`: element k is the sum of a[k + i] * conj(v[i]), as in NumPy's correlate.
[[nodiscard]] DNDarray correlate(const DNDarray& a, const DNDarray& v,
                                 const ConvolveOptions& options = {.mode = ConvolveMode::valid});

}  // namespace heatpp

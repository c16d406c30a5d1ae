#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// What a percentile between two elements is.
enum class Interpolation { linear, lower, higher, nearest, midpoint };

struct PercentileOptions {
  std::optional<int> axis = std::nullopt;  ///< nullopt: all elements
  bool keepdims = false;
  Interpolation interpolation = Interpolation::linear;
};

/// The elements below which q percent of the elements along `axis` lie, by NumPy's rules, with a first axis for the
/// percentiles. NaN among the elements gives NaN. Nothing is sorted or gathered: the order statistics are found digit
/// by digit in histograms, which the first time reads all elements and then the few that still fit. Along the split
/// axis each digit costs one allreduce of the histograms and every rank gets the result; otherwise local, and the split
/// stays. Collective. Throws ValueError for q outside 0 .. 100 or no elements, IndexError for an axis out of range,
/// TypeError for complex arrays.
[[nodiscard]] DNDarray percentile(const DNDarray& x, const std::vector<double>& q,
                                  const PercentileOptions& options = {});
/// The same for one percentage, without the first axis.
[[nodiscard]] DNDarray percentile(const DNDarray& x, double q, const PercentileOptions& options = {});
/// percentile(x, 50).
[[nodiscard]] DNDarray median(const DNDarray& x, const PercentileOptions& options = {});
[[nodiscard]] inline DNDarray median(const DNDarray& x, int axis) { return median(x, PercentileOptions{.axis = axis}); }

}  // namespace heatpp

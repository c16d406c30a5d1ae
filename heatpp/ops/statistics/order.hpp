#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// The definition of a percentile between two elements: NumPy's methods, by name. The last eight are those of Hyndman
/// and Fan (1996) besides `linear`.
enum class Interpolation {
  linear,
  lower,
  higher,
  nearest,
  midpoint,
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  median_unbiased,
  normal_unbiased
};

struct PercentileOptions {
  Axes axis = std::nullopt;  ///< nullopt: all elements; else one axis or several
  bool keepdims = false;
  Interpolation interpolation = Interpolation::linear;
  std::optional<DNDarray> weights = std::nullopt;  ///< in x's shape, or of the axes' in their order; for inverted_cdf
};

/// Returns the elements below which q percent of the elements along `axis` lie, by NumPy's rules, with a first axis for
/// the percentiles. The dtype is the floating dtype of `x`, or its own if the method picks elements. NaN among the
/// elements gives NaN. Long lines are neither sorted nor gathered: the order statistics are found digit by digit in
/// histograms, first of all elements and then of the few that still fit. For lines of more than 2^17 elements for each
/// rank a sample is taken first, so that only the elements near the wanted ones enter histograms. Along the split axis
/// each digit costs one allreduce of the histograms and every rank gets the result, except that lines of up to 2048
/// elements for each rank are recut along another axis first, if one is long enough for all ranks. Otherwise local,
/// lines of up to 2^13 elements by sorting them, and the split stays. With weights the elements are sorted, which
/// communicates as argsort, two calls of take_along_axis and cumsum. Collective. Throws ValueError for q outside 0 ..
/// 100, no elements, weights of another shape, below 0 or without a finite positive sum for a line with numbers, and
/// weights with other methods, IndexError for an axis out of range, TypeError for complex arrays, and bool ones that
/// would be averaged.
[[nodiscard]] DNDarray percentile(const DNDarray& x, const std::vector<double>& q,
                                  const PercentileOptions& options = {});
/// Returns one percentile, without the first axis.
[[nodiscard]] DNDarray percentile(const DNDarray& x, double q, const PercentileOptions& options = {});
/// Does percentile for parts of 1 instead of 100.
[[nodiscard]] DNDarray quantile(const DNDarray& x, const std::vector<double>& q, const PercentileOptions& options = {});
[[nodiscard]] DNDarray quantile(const DNDarray& x, double q, const PercentileOptions& options = {});
/// Returns the middle element, or the mean of the two in the middle; NaN for no elements. Communicates as percentile;
/// complex numbers are sorted, as sort and take_along_axis. Throws ValueError for weights and other interpolations.
[[nodiscard]] DNDarray median(const DNDarray& x, const PercentileOptions& options = {});
HEATPP_OVER_AXES(DNDarray, median, PercentileOptions)

/// Do percentile, quantile and median of the elements that are not NaN; NaN if there are none. One small allreduce
/// more, of their number. An empty array gives, as in NumPy, its nanmean, without an axis for q.
[[nodiscard]] DNDarray nanpercentile(const DNDarray& x, const std::vector<double>& q,
                                     const PercentileOptions& options = {});
[[nodiscard]] DNDarray nanpercentile(const DNDarray& x, double q, const PercentileOptions& options = {});
[[nodiscard]] DNDarray nanquantile(const DNDarray& x, const std::vector<double>& q,
                                   const PercentileOptions& options = {});
[[nodiscard]] DNDarray nanquantile(const DNDarray& x, double q, const PercentileOptions& options = {});
[[nodiscard]] DNDarray nanmedian(const DNDarray& x, const PercentileOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanmedian, PercentileOptions)

// Braces hold a list, also around one number.
// clang-format off
[[nodiscard]] inline DNDarray percentile(const DNDarray& x, std::initializer_list<double> q, const PercentileOptions& options = {}) { return percentile(x, std::vector(q), options); }
[[nodiscard]] inline DNDarray quantile(const DNDarray& x, std::initializer_list<double> q, const PercentileOptions& options = {}) { return quantile(x, std::vector(q), options); }
[[nodiscard]] inline DNDarray nanpercentile(const DNDarray& x, std::initializer_list<double> q, const PercentileOptions& options = {}) { return nanpercentile(x, std::vector(q), options); }
[[nodiscard]] inline DNDarray nanquantile(const DNDarray& x, std::initializer_list<double> q, const PercentileOptions& options = {}) { return nanquantile(x, std::vector(q), options); }
// clang-format on

/// Returns the largest element less the smallest. Communicates as max and min. Throws TypeError for bool, as NumPy.
[[nodiscard]] DNDarray ptp(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, ptp, ReduceOptions)

}  // namespace heatpp

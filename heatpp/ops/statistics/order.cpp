#include <heatpp/ops/statistics/order.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/around.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/operands/detail/lines.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/statistics/detail/quantiles.hpp>
#include <heatpp/ops/statistics/detail/sorted_quantiles.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

/// Returns the axis along which lines over several ranks are better cut: if moving a rank's part costs less than the
/// histograms of its digits, one for each byte, with 256 numbers of 8 bytes.
std::optional<int> better_cut(const DNDarray& x, const detail::ReducedAxes& reduced) {
  if (!reduced.across || x.layout().is_grid() || reduced.count > 2048 * std::int64_t{x.comm().size()})
    return std::nullopt;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (!reduced.contains(axis) && x.shape()[static_cast<std::size_t>(axis)] >= x.comm().size()) return axis;
  return std::nullopt;
}

/// Converts parts of `scale`, 1 or 100, to parts of 1.
std::vector<double> parts_of(const char* op, std::vector<double> q, double scale) {
  for (auto& part : q) {
    if (!(part >= 0 && part <= scale)) detail::raise<ValueError>(op, "got q = {}; expected 0 <= q <= {}", part, scale);
    part /= scale;
  }
  return q;
}

DNDarray quantiles(const char* op, const DNDarray& x, detail::Quantiles wanted, const PercentileOptions& options) {
  detail::check_real(op, x.dtype());
  detail::check_axes(op, x, options.axis);
  const auto reduced = detail::reduced_axes(op, x, {.axis = options.axis, .keepdims = options.keepdims});
  if (reduced.count == 0 && !wanted.skip_nan && !wanted.median)
    detail::raise<ValueError>(op, "got an array of shape {}; expected at least one element along the axis",
                              to_string(x.shape()));
  if (options.weights) {
    const auto weights = detail::checked_weights(op, x, options);
    if (x.size() > 0 && !wanted.q.empty()) return detail::weighted_quantiles(op, x, weights, wanted, options);
  }
  if (x.size() == 0 && wanted.skip_nan && !wanted.median)  // without an axis for q, as in NumPy
    return nanmean(x, {.axis = options.axis, .keepdims = options.keepdims});
  wanted.interpolation = options.interpolation;
  const bool picks = detail::picks(wanted);
  if (x.dtype() == bool_ && !picks && !wanted.median)
    detail::raise<TypeError>(op, "got an array of bool; expected numbers, or a method that picks elements");
  if (const auto axis = better_cut(x, reduced))
    return resplit(quantiles(op, resplit(x, axis), wanted, options), std::nullopt);

  const auto each = reduced.result_layout(x.layout());  // layout of one quantile
  const auto result =
      detail::quantiles_of(detail::lines_along(detail::readable(reduced.counted(x.larray())), reduced.axes),
                           reduced.count, wanted, reduced.across.value_or(self()));
  auto shape = each.shape(), local = each.local_shape(x.comm().rank());
  for (auto* s : {&shape, &local}) s->insert(s->begin(), std::ssize(wanted.q));
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), -1);
  auto layout = each.along(shape, axes);
  const auto dtype = picks ? x.dtype() : inexact_type(x.dtype());
  const auto block = result.to(detail::to_torch(x.device()), detail::to_torch(dtype)).view(local);
  return detail::wrap(block, std::move(layout), x.comm());
}

DNDarray median_of(const char* op, const DNDarray& x, const PercentileOptions& options, bool skip_nan) {
  if (options.weights || options.interpolation != Interpolation::linear)
    detail::raise<ValueError>(op, "got weights or another interpolation than linear; expected neither");
  if (is_complex(x.dtype())) return detail::complex_median(op, x, options, skip_nan);
  const detail::Quantiles middle{.q = {0.5}, .interpolation = {}, .median = true, .skip_nan = skip_nan};
  return quantiles(op, x, middle, {.axis = options.axis, .keepdims = options.keepdims}).index({0});
}

}  // namespace

#define HEATPP_QUANTILE(name, scale, skips)                                                          \
  DNDarray name(const DNDarray& x, const std::vector<double>& q, const PercentileOptions& options) { \
    const detail::Quantiles wanted{parts_of(#name, q, scale), {}, false, skips};                     \
    return quantiles(#name, x, wanted, options);                                                     \
  }                                                                                                  \
  DNDarray name(const DNDarray& x, double q, const PercentileOptions& options) {                     \
    const auto found = name(x, std::vector{q}, options);                                             \
    return skips && x.size() == 0 ? found : found.index({0});                                        \
  }
HEATPP_QUANTILE(percentile, 100, false)
HEATPP_QUANTILE(quantile, 1, false)
HEATPP_QUANTILE(nanpercentile, 100, true)
HEATPP_QUANTILE(nanquantile, 1, true)
#undef HEATPP_QUANTILE

DNDarray median(const DNDarray& x, const PercentileOptions& options) { return median_of("median", x, options, false); }
DNDarray nanmedian(const DNDarray& x, const PercentileOptions& options) {
  return median_of("nanmedian", x, options, true);
}

DNDarray ptp(const DNDarray& x, const ReduceOptions& options) {
  if (x.dtype() == bool_) detail::raise<TypeError>("ptp", "got an array of bool; expected numbers");
  return max(x, options) - min(x, options);
}

}  // namespace heatpp

#include <heatpp/ops/statistics/detail/sorted_quantiles.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/detail/weights.hpp>
#include <heatpp/ops/reductions/detail/without_nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/sorting/sort.hpp>

namespace heatpp::detail {
namespace {

/// Returns `x` with the reduced axes as its last one.
DNDarray lines_of(const DNDarray& x, const ReducedAxes& reduced) {
  const std::vector<int> from(reduced.axes.begin(), reduced.axes.end());
  std::vector<int> to;
  for (std::size_t i = 0; i < from.size(); ++i) to.push_back(x.ndim() - static_cast<int>(from.size() - i));
  const auto moved = moveaxis(x, from, to);
  Shape shape(moved.shape().begin(), moved.shape().end() - std::ssize(from));
  shape.push_back(reduced.count);
  return moved.shape() == shape ? moved : reshape(moved, shape);
}

/// Returns one result for each line, with the reduced axes as the caller wants them.
DNDarray of_lines(const DNDarray& values, const ReducedAxes& reduced) {
  const auto result = squeeze(values, -1);
  return reduced.keepdims ? expand_dims(result, std::vector<int>(reduced.axes.begin(), reduced.axes.end())) : result;
}

// Returns the first of each line, on all ranks if the lines are split.
DNDarray first_of(const DNDarray& lines) { return expand_dims(lines.index({ellipsis, 0}), -1); }
DNDarray last_of(const DNDarray& lines) { return expand_dims(lines.index({ellipsis, -1}), -1); }

}  // namespace

DNDarray checked_weights(const char* op, const DNDarray& x, const PercentileOptions& options) {
  if (options.interpolation != Interpolation::inverted_cdf)
    raise<ValueError>(op, "got weights and another method than inverted_cdf; expected this one");
  const auto weights = weights_along(op, x, options.weights->astype(float64), options.axis);
  if (any(weights < 0).item<bool>()) raise<ValueError>(op, "got weights below 0; expected none");
  return wrap(align_to(op, x, weights).expand(x.larray().sizes()), x.layout(), x.comm());
}

DNDarray weighted_quantiles(const char* op, const DNDarray& x, DNDarray weights, const Quantiles& wanted,
                            const PercentileOptions& options) {
  const auto reduced = reduced_axes(op, x, {.axis = options.axis, .keepdims = options.keepdims});
  if (wanted.skip_nan && may_be_nan(x)) weights = where(isnan(x), 0.0, weights);
  const auto lines = lines_of(x, reduced), order = argsort(lines, -1);
  const auto sorted = take_along_axis(lines, order, -1);
  const auto sums = cumsum(take_along_axis(lines_of(weights, reduced), order, -1), lines.ndim() - 1);
  const auto total = last_of(sums);
  const auto missing = isnan(wanted.skip_nan ? first_of(sorted) : last_of(sorted));  // their result is NaN
  const auto unfit = logical_or(logical_not(isfinite(total)), eq(total, 0));
  if (any(wanted.skip_nan ? logical_and(unfit, logical_not(missing)) : unfit).item<bool>())
    raise<ValueError>(op, "got weights whose sum is 0 or not finite; expected another");
  const auto parts = sums / total;
  Arrays results;
  for (const auto q : wanted.q) {
    const auto before = sum(logical_or(parts < q, eq(parts, 0)), {.axis = -1, .keepdims = true});
    auto values = take_along_axis(sorted, minimum(before, lines.shape().back() - 1), -1);
    if (may_be_nan(x)) values = where(missing, static_cast<double>(NAN), values);
    results.push_back(of_lines(values, reduced));
  }
  return stack(results);
}

DNDarray complex_median(const char* op, const DNDarray& x, const PercentileOptions& options, bool skip_nan) {
  check_axes(op, x, options.axis);
  const auto reduced = reduced_axes(op, x, {.axis = options.axis, .keepdims = options.keepdims});
  const auto nothing = std::complex<double>(NAN, 0);
  const auto lines = lines_of(x, reduced);
  if (reduced.count == 0) return of_lines(sum(lines, {.axis = -1, .keepdims = true}) + nothing, reduced);
  const auto sorted = sort(lines, -1), missing = isnan(lines);
  const ReduceOptions along_line{.axis = -1, .keepdims = true};
  const auto count = skip_nan ? sum(logical_not(missing), along_line) : sum(logical_or(missing, true), along_line);
  const auto at = [&](const DNDarray& positions) { return take_along_axis(sorted, positions, -1); };
  const auto middle = at(floor_divide(maximum(count - 1, 0), 2)) / 2 +
                      at(floor_divide(minimum(count, 2 * lines.shape().back() - 1), 2)) / 2;
  const auto result =
      skip_nan ? where(eq(count, 0), nothing, middle) : where(any(missing, along_line), last_of(sorted), middle);
  return of_lines(result, reduced);
}

}  // namespace heatpp::detail

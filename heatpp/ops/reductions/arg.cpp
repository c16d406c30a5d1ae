#include <heatpp/ops/reductions/arg.hpp>

#include <ATen/Dispatch.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/flat_index.hpp>
#include <heatpp/ops/reductions/detail/first_extremum.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/detail/without_nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

#include <cmath>

namespace heatpp {
namespace {

using detail::Found;
using detail::Ordered;

/// Returns the best along `axis` for each place on the other axes.
template <class Wide>
std::vector<Found<Wide>> best_along(const at::Tensor& block, std::int64_t axis, bool largest) {
  if constexpr (std::is_same_v<Wide, Ordered>) return detail::complex_extrema(block, axis, largest);
  else {
    std::vector<Found<Wide>> best;
    const auto view = detail::around_axes(detail::readable(block), axis);
    AT_DISPATCH_ALL_TYPES(view.data.scalar_type(), "best_along", [&] {
      if constexpr (std::is_same_v<detail::Wide<scalar_t>, Wide>)
        best = detail::first_extrema(view.data.const_data_ptr<scalar_t>(), view.extents, largest);
    });
    return view.order.restored(std::move(best), view.kept);
  }
}

template <class Wide, bool Largest>
void merge(const void* in, void* inout, std::int64_t n) {
  const auto* a = static_cast<const Found<Wide>*>(in);
  auto* b = static_cast<Found<Wide>*>(inout);
  for (std::int64_t i = 0; i < n; ++i) b[i] = detail::better(a[i], b[i], Largest);
}

template <class Wide, bool Largest>
std::vector<Found<Wide>> best_on_all(const DNDarray& x, std::optional<int> axis, const detail::ReducedAxes& reduced) {
  const auto block = reduced.counted(x.larray());
  auto best = axis ? best_along<Wide>(block, *axis, Largest) : best_along<Wide>(block.reshape(-1), 0, Largest);
  const detail::FlatIndex flat(x);
  const auto first = x.layout().local_offset(x.comm().rank());
  const auto shift = axis ? first[static_cast<std::size_t>(*axis)] : 0;
  for (auto& [value, position] : best)
    if (position >= 0) position = axis ? position + shift : flat.of(position);
  if (reduced.across)
    reduced.across->allreduce_records(best.data(), std::ssize(best), sizeof(Found<Wide>), &merge<Wide, Largest>);
  return best;
}

template <class Wide>
at::Tensor positions(const DNDarray& x, std::optional<int> axis, bool largest, const detail::ReducedAxes& reduced) {
  const auto best = largest ? best_on_all<Wide, true>(x, axis, reduced) : best_on_all<Wide, false>(x, axis, reduced);
  at::Tensor result = at::empty({std::ssize(best)}, at::kLong);
  std::ranges::transform(best, result.mutable_data_ptr<std::int64_t>(), &Found<Wide>::position);
  return result;
}

DNDarray arg(const char* op, const DNDarray& x, const ArgOptions& options, bool largest) {
  const auto reduced = detail::reduced_axes(
      op, x, {.axis = options.axis ? Axes(*options.axis) : Axes(std::nullopt), .keepdims = options.keepdims});
  // A number has no axis to name.
  const auto axis =
      options.axis && !reduced.axes.empty() ? std::optional(static_cast<int>(reduced.axes.front())) : std::nullopt;
  auto layout = reduced.result_layout(x.layout());
  if (reduced.count == 0)
    detail::raise<ValueError>(op, "got an array of shape {} with nothing to compare; expected at least one element",
                              to_string(x.shape()));
  auto result = is_complex(x.dtype())    ? positions<Ordered>(x, axis, largest, reduced)
                : is_floating(x.dtype()) ? positions<double>(x, axis, largest, reduced)
                                         : positions<std::int64_t>(x, axis, largest, reduced);
  const auto shape = layout.local_shape(x.comm().rank());
  return detail::wrap(result.reshape(shape).to(x.larray().device()), std::move(layout), x.comm());
}

/// Replaces NaN in `x` by `value`; a slice with only NaN is an error.
DNDarray beside_nan(const char* op, const DNDarray& x, const ArgOptions& options, double value) {
  if (!detail::may_be_nan(x)) return x;
  const auto missing = isnan(x);
  const auto empty = options.axis ? all(missing, *options.axis) : all(missing);
  if (x.size() > 0 && any(empty).item<bool>())
    detail::raise<ValueError>(op, "got an array of shape {} with nothing but NaN in a slice; expected a number in each",
                              to_string(x.shape()));
  return detail::without_nan(x, value);
}

}  // namespace

DNDarray argmax(const DNDarray& x, const ArgOptions& options) { return arg("argmax", x, options, true); }
DNDarray argmin(const DNDarray& x, const ArgOptions& options) { return arg("argmin", x, options, false); }
DNDarray nanargmax(const DNDarray& x, const ArgOptions& options) {
  return arg("nanargmax", beside_nan("nanargmax", x, options, -INFINITY), options, true);
}
DNDarray nanargmin(const DNDarray& x, const ArgOptions& options) {
  return arg("nanargmin", beside_nan("nanargmin", x, options, INFINITY), options, false);
}

}  // namespace heatpp

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/detail/reduced.hpp>
#include <heatpp/ops/detail/select.hpp>
#include <heatpp/ops/index.hpp>
#include <heatpp/ops/order.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp {
namespace {

/// Where a percentile lies among n sorted elements: at `low`, or `weight` of the way to the next.
struct Place {
  std::int64_t low = 0;
  double weight = 0;
};

Place place_of(double q, std::int64_t n, Interpolation interpolation) {
  const double exact = q / 100 * static_cast<double>(n - 1), low = std::floor(exact), weight = exact - low;
  const auto index = static_cast<std::int64_t>(low);
  switch (interpolation) {
    case Interpolation::linear: return {index, weight};
    case Interpolation::lower: return {index, 0};
    case Interpolation::higher: return {index + (weight > 0), 0};
    case Interpolation::nearest: return {static_cast<std::int64_t>(std::nearbyint(exact)), 0};
    case Interpolation::midpoint: return {index, weight > 0 ? 0.5 : 0};
  }
  return {};
}

/// Sorted positions of all elements that the places need, and of the last, which is NaN if any is.
std::vector<std::int64_t> positions_of(const std::vector<Place>& places, std::int64_t n) {
  std::vector<std::int64_t> positions{n - 1};
  for (const auto& place : places) {
    positions.push_back(place.low);
    if (place.weight > 0) positions.push_back(place.low + 1);
  }
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

/// NumPy's linear interpolation, which is exact at both ends.
double between(double a, double b, double weight) {
  if (weight == 0 || a == b) return a;
  return weight < 0.5 ? a + (b - a) * weight : b - (b - a) * (1 - weight);
}

template <class T>
at::Tensor interpolated(const at::Tensor& block, const std::vector<Place>& places, std::int64_t n,
                        const Communicator& comm) {
  const auto columns = block.size(0), rows = block.size(1);
  const auto positions = positions_of(places, n);
  const auto found = detail::select_in_columns(block.const_data_ptr<T>(), rows, columns, positions, comm);
  const auto element = [&](std::int64_t position, std::int64_t column) {
    const auto row = std::ranges::lower_bound(positions, position) - positions.begin();
    return static_cast<double>(found[static_cast<std::size_t>(row * columns + column)]);
  };
  auto result = at::empty({std::ssize(places), columns}, at::kDouble);
  auto* out = result.data_ptr<double>();
  for (const auto& [low, weight] : places)
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto last = element(n - 1, c);
      *out++ = std::isnan(last) ? last : between(element(low, c), weight > 0 ? element(low + 1, c) : 0, weight);
    }
  return result;
}

/// The smallest type with a selection kernel that holds all values of `dtype`.
at::ScalarType selection_type(Dtype dtype) {
  if (dtype == float64) return at::kDouble;
  if (dtype == int64) return at::kLong;
  return is_floating(dtype) ? at::kFloat : at::kInt;
}

at::Tensor selected(const at::Tensor& block, const std::vector<Place>& places, std::int64_t n,
                    const Communicator& comm) {
  switch (block.scalar_type()) {
    case at::kDouble: return interpolated<double>(block, places, n, comm);
    case at::kLong: return interpolated<std::int64_t>(block, places, n, comm);
    case at::kFloat: return interpolated<float>(block, places, n, comm);
    default: return interpolated<std::int32_t>(block, places, n, comm);
  }
}

void check(const DNDarray& x, const std::vector<double>& q, std::int64_t n) {
  if (is_complex(x.dtype()))
    detail::raise<TypeError>("percentile", "got an array of {}; expected real numbers", name(x.dtype()));
  if (n == 0)
    detail::raise<ValueError>("percentile", "got an array of shape {}; expected at least one element along the axis",
                              to_string(x.shape()));
  for (const auto percent : q)
    if (!(percent >= 0 && percent <= 100))
      detail::raise<ValueError>("percentile", "got q = {}; expected 0 <= q <= 100", percent);
}

/// The elements as (columns, elements of a column).
at::Tensor as_columns(const DNDarray& x, const std::optional<int>& axis) {
  const auto block = x.larray().to(at::kCPU, selection_type(x.dtype()));
  if (!axis) return block.contiguous().view({1, -1});
  const auto rows = block.size(*axis);
  std::int64_t columns = 1;
  for (std::int64_t i = 0; i < block.dim(); ++i) columns *= i == *axis ? 1 : block.size(i);
  return block.movedim(*axis, -1).reshape({columns, rows}).contiguous();
}

}  // namespace

DNDarray percentile(const DNDarray& x, const std::vector<double>& q, const PercentileOptions& options) {
  const auto axis = options.axis ? std::optional(sanitize_axis(*options.axis, x.ndim(), "percentile")) : std::nullopt;
  const auto reduced = detail::reduced_axes(
      "percentile", x, {.axis = axis ? Axes(*axis) : Axes(std::nullopt), .keepdims = options.keepdims});
  check(x, q, reduced.count);
  std::vector<Place> places;
  for (const auto percent : q) places.push_back(place_of(percent, reduced.count, options.interpolation));

  const auto each = reduced.result_layout(x.layout());  // of one percentile
  const auto result = selected(as_columns(x, axis), places, reduced.count, reduced.over_split ? x.comm() : self());
  auto shape = each.shape(), local = each.local_shape(x.comm().rank());
  for (auto* s : {&shape, &local}) s->insert(s->begin(), std::ssize(q));
  auto layout = each.split() ? each.with(shape, *each.split() + 1) : each.replicated(shape);
  return detail::wrap(result.to(detail::to_torch(inexact_type(x.dtype()))).view(local), std::move(layout), x.comm());
}

DNDarray percentile(const DNDarray& x, double q, const PercentileOptions& options) {
  return percentile(x, std::vector{q}, options).index({0});
}

DNDarray median(const DNDarray& x, const PercentileOptions& options) { return percentile(x, 50.0, options); }

}  // namespace heatpp

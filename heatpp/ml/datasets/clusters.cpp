#include <heatpp/ml/datasets/clusters.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/with_dtype.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/random/random.hpp>

namespace heatpp::datasets {
namespace {

/// Returns the cumulative sums of the weights, at which a uniform number passes to the next cluster.
DNDarray bounds_of(const std::optional<DNDarray>& weights, std::int64_t clusters, const ArrayOptions& options) {
  const auto given = weights ? resplit(*weights, std::nullopt).astype(float64)
                             : ones({clusters}, {.dtype = float64, .device = options.device, .comm = options.comm});
  const auto total = sum(given).item<double>();
  if (given.shape() != Shape{clusters} || any(given < 0).item<bool>() || !(total > 0))
    heatpp::detail::raise<ValueError>("create_clusters",
                                      "got weights of shape {} that sum to {}; expected {}, none below 0, some above",
                                      to_string(given.shape()), total, clusters);
  return cumsum(given / total, 0)(slice(0, clusters - 1));
}

}  // namespace

Clusters create_clusters(std::int64_t n, const DNDarray& means, const Operand& deviations,
                         const ClusterOptions& options) {
  constexpr auto op = "create_clusters";
  if (n < 0 || means.ndim() != 2 || means.shape(0) < 1)
    heatpp::detail::raise<ValueError>(op,
                                      "got {} samples and means of shape {}; expected n >= 0 and (clusters, features)",
                                      n, to_string(means.shape()));
  heatpp::detail::check_rows_only(op, options.array.grid);
  const auto wide = heatpp::detail::with_dtype(options.array, float64);
  const auto centers = resplit(means, std::nullopt).astype(float64);
  const auto widths = copy(broadcast_to(zeros_like(centers) + deviations, centers.shape()));
  const auto bounds = bounds_of(options.weights, centers.shape(0), options.array);
  const auto labels = searchsorted(bounds, random::random({n}, wide), {.side = Side::right});
  const auto noise = random::standard_normal({n, centers.shape(1)}, wide);
  const auto samples = take(centers, labels, 0) + take(widths, labels, 0) * noise;
  return {samples.astype(options.array.dtype.value_or(get_default_dtype())), labels};
}

Clusters create_spherical_dataset(std::int64_t n, const SphericalOptions& options) {
  if (n < 0 || options.radius < 0)
    heatpp::detail::raise<ValueError>("create_spherical_dataset",
                                      "got {} samples in balls of radius {}; expected both >= 0", n, options.radius);
  heatpp::detail::check_rows_only("create_spherical_dataset", options.array.grid);
  const auto wide = heatpp::detail::with_dtype(options.array, float64);
  const auto direction = random::standard_normal({4 * n, 3}, wide);
  const auto length = options.radius * cbrt(random::random({4 * n}, wide));
  const auto labels =
      arange(4 * n, {.split = wide.split, .device = wide.device, .comm = wide.comm}) / std::max<std::int64_t>(1, n);
  const auto ball = floor(labels).astype(int64);
  const auto centers = options.offset * where(ball < 2, ball + 1, 1 - ball);
  const auto norm = sqrt(sum(direction * direction, 1));
  const auto samples = direction * expand_dims(length / norm, 1) + expand_dims(centers, 1);
  return {samples.astype(options.array.dtype.value_or(get_default_dtype())), ball};
}

}  // namespace heatpp::datasets

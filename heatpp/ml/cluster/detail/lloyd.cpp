#include <heatpp/ml/cluster/detail/lloyd.hpp>
#include <heatpp/ml/cluster/detail/relocate.hpp>
#include <heatpp/ml/detail/nearest.hpp>

namespace heatpp::ml::detail {
namespace {

/// The sums of one pass in one buffer: each cluster's rows about an origin, their weights, the number of changed
/// labels, the objective, and the number of ranks that ask to stop.
struct Step {
  std::vector<double> numbers;
  std::int64_t clusters, features;

  [[nodiscard]] static std::size_t size(std::int64_t k, std::int64_t f) {
    return static_cast<std::size_t>(k * (f + 1) + 3);
  }
  [[nodiscard]] double* counts() { return numbers.data() + clusters * features; }
  [[nodiscard]] double changed() { return counts()[clusters]; }
  [[nodiscard]] double objective() { return counts()[clusters + 1]; }
  [[nodiscard]] double stops() { return counts()[clusters + 2]; }
};

Step step(const Weighted& data, const at::Tensor& centers, const at::Tensor& origin, std::vector<std::int32_t>& labels,
          bool objective, const heatpp::detail::Watch& watch) {
  const auto k = centers.size(0), f = centers.size(1);
  const NearestCenters table(centers, data.rows);
  Totals sums(Step::size(k, f));
  sums.of(0).back() = watch.vote();
  const auto failure = heatpp::detail::failure_of([&] {
    for_stored(data.rows, [&](const auto& piece, int thread) {
      const auto numbers = sums.of(thread);
      auto *counts = numbers.data() + k * f, *old = labels.data() + piece.first;
      const auto* weights = data.weights ? data.weights + piece.first : nullptr;
      std::vector<std::int32_t> found(static_cast<std::size_t>(piece.rows));
      table.nearest(piece, found.data());
      add_rows(piece, found.data(), weights, origin.const_data_ptr<double>(), k, numbers.data(), counts);
      counts[k] += static_cast<double>(piece.rows) -
                   static_cast<double>(std::inner_product(found.begin(), found.end(), old, std::int64_t{0}, std::plus{},
                                                          [](auto a, auto b) { return std::int64_t{a == b}; }));
      if (objective) {
        std::vector<double> distances(found.size());
        table.distances(piece, found.data(), distances.data());
        for (std::size_t i = 0; i < found.size(); ++i) counts[k + 1] += distances[i] * (weights ? weights[i] : 1.0);
      }
      std::copy(found.begin(), found.end(), old);
    });
  });
  return {sums.over_ranks(data.rows, failure), k, f};
}

/// Returns the means of the clusters; centers without rows do not move.
at::Tensor means(Step& sums, const at::Tensor& origin, const at::Tensor& centers) {
  const auto shape = centers.sizes();
  const auto sum = at::from_blob(sums.numbers.data(), shape, at::kDouble);
  const auto count = at::from_blob(sums.counts(), {sums.clusters, 1}, at::kDouble);
  return at::where(count > 0, sum / count.clamp_min(std::numeric_limits<double>::min()) + origin, centers).contiguous();
}

}  // namespace

LloydResult lloyd(const Weighted& data, at::Tensor centers, const LloydOptions& options) {
  const auto mean = centers.mean(0).contiguous();
  const auto origin = sparse_rows(data.rows) ? at::zeros_like(mean) : mean;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(data.rows.count()), -1);
  heatpp::detail::Watch watch;
  std::int64_t done = 0;
  bool converged = false;
  while (done < options.max_iterations) {
    auto sums = step(data, centers, origin, labels, static_cast<bool>(options.progress), watch);
    watch.hear(sums.stops());
    relocate_empty(data, {centers, origin, labels}, {sums.numbers.data(), sums.counts()});
    const auto moved = means(sums, origin, centers);
    const auto shift = (moved - centers).square().sum().item<double>();
    centers = moved;
    ++done;
    watch.ask(options.progress, FitProgress{done, options.max_iterations, sums.objective()});
    converged = sums.changed() == 0 || shift <= options.tolerance;
    if (converged || watch.ended()) break;
  }
  watch.settle(data.rows.comm(), data.rows.distributed());
  return {centers, done, converged, watch.ended()};
}

}  // namespace heatpp::ml::detail

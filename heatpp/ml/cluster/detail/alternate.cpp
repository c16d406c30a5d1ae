#include <heatpp/ml/cluster/detail/manhattan.hpp>
#include <heatpp/ml/cluster/detail/medians.hpp>
#include <heatpp/ml/cluster/detail/relocate.hpp>

#include <limits>

namespace heatpp::ml::detail {
namespace {

/// The labels and distances of this rank's rows, and the sums of all ranks.
struct Assigned {
  std::vector<std::int32_t> labels;
  std::vector<double> distances;
  std::vector<double> counts, costs;  ///< for each cluster
  double changed = 0;
  [[nodiscard]] double objective() const { return std::accumulate(costs.begin(), costs.end(), 0.0); }
};

void assign(const Weighted& data, const at::Tensor& centers, heatpp::detail::Watch& watch, Assigned& all) {
  const auto k = static_cast<std::size_t>(centers.size(0));
  Totals totals(2 * k + 2);
  totals.of(0).back() = watch.vote();
  const auto add = [&](const auto& piece, int thread) {
    const auto sums = totals.of(thread);
    const auto first = static_cast<std::size_t>(piece.first);
    std::vector<std::int32_t> found(static_cast<std::size_t>(piece.rows));
    nearest_manhattan(piece, centers.const_data_ptr<double>(), centers.size(0), found.data(),
                      all.distances.data() + first);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto w = data.weights ? data.weights[first + i] : 1.0;
      sums[static_cast<std::size_t>(found[i])] += w;
      sums[k + static_cast<std::size_t>(found[i])] += w * all.distances[first + i];
      sums[2 * k] += found[i] == all.labels[first + i] ? 0 : 1;
      all.labels[first + i] = found[i];
    }
  };
  const auto failure = heatpp::detail::failure_of([&] { for_pieces(data.rows, add); });
  const auto sums = totals.over_ranks(data.rows, failure);
  const auto middle = sums.begin() + static_cast<std::ptrdiff_t>(k), end = middle + static_cast<std::ptrdiff_t>(k);
  all.counts.assign(sums.begin(), middle);
  all.costs.assign(middle, end);
  all.changed = sums[2 * k];
  watch.hear(sums.back());
}

/// Gives clusters without rows those that are farthest from their centers.
void fill_empty(const Weighted& data, Assigned& all) {
  std::vector<std::int32_t> empty;
  for (std::size_t c = 0; c < all.counts.size(); ++c)
    if (!(all.counts[c] > 0)) empty.push_back(static_cast<std::int32_t>(c));
  if (empty.empty()) return;
  auto distances = all.distances;
  for (std::size_t i = 0; data.weights && i < distances.size(); ++i)
    if (!(data.weights[i] > 0)) distances[i] = -1;
  const auto far = farthest(data.rows, distances, empty.size(), std::nullopt);
  for (std::size_t e = 0; e < empty.size() && far[e].distance > 0; ++e) {
    all.costs[static_cast<std::size_t>(empty[e])] = std::numeric_limits<double>::infinity();
    const auto local = static_cast<std::int64_t>(far[e].row) - data.rows.first();
    if (local >= 0 && local < data.rows.count()) all.labels[static_cast<std::size_t>(local)] = empty[e];
  }
}

/// Returns the distance of each row of this rank to the place of its cluster.
std::vector<double> distances_to(const Weighted& data, const at::Tensor& places, const Assigned& all) {
  std::vector<double> distances(all.labels.size());
  for_pieces(data.rows, [&](const auto& piece, int) {
    manhattan_distances(piece, places.const_data_ptr<double>(), all.labels.data() + piece.first,
                        distances.data() + piece.first);
  });
  return distances;
}

/// Returns for each cluster the number of the row nearest to its place, the first one for ties; -1 without rows.
std::vector<std::int64_t> rows_near(const Weighted& data, const at::Tensor& places, const Assigned& all) {
  const auto k = static_cast<std::size_t>(places.size(0));
  std::vector<double> distances;
  const auto failure = heatpp::detail::failure_of([&] { distances = distances_to(data, places, all); });
  Totals nearest(k, ReduceOp::max), first(k, ReduceOp::max);
  for (std::size_t i = 0; i < distances.size(); ++i)
    if (!data.weights || data.weights[i] > 0) {
      auto& least = nearest.of(0)[static_cast<std::size_t>(all.labels[i])];
      least = std::max(least, -distances[i]);
    }
  const auto least = nearest.over_ranks(data.rows, failure);
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const auto c = static_cast<std::size_t>(all.labels[i]);
    const bool counts = !data.weights || data.weights[i] > 0;
    if (counts && distances[i] == -least[c])
      first.of(0)[c] = std::max(first.of(0)[c], -static_cast<double>(data.rows.first()) - static_cast<double>(i));
  }
  std::vector<std::int64_t> rows;
  for (const auto row : first.over_ranks(data.rows)) rows.push_back(std::isfinite(row) ? std::llround(-row) : -1);
  return rows;
}

/// Returns the medoids: rows near the medians, if these lower the cluster's cost compared with the medoid before.
at::Tensor medoids(const Weighted& data, const at::Tensor& before, const at::Tensor& medians, const Assigned& all) {
  const auto positions = rows_near(data, medians, all);
  const auto rows = fetch_rows(data.rows, positions);
  Totals costs(positions.size());
  const auto failure = heatpp::detail::failure_of([&] {
    const auto distances = distances_to(data, rows, all);
    for (std::size_t i = 0; i < distances.size(); ++i)
      costs.of(0)[static_cast<std::size_t>(all.labels[i])] += distances[i] * (data.weights ? data.weights[i] : 1.0);
  });
  const auto sums = costs.over_ranks(data.rows, failure);
  auto chosen = before.clone();
  for (std::size_t c = 0; c < sums.size(); ++c)
    if (positions[c] >= 0 && sums[c] < all.costs[c])
      chosen[static_cast<std::int64_t>(c)].copy_(rows[static_cast<std::int64_t>(c)]);
  return chosen;
}

}  // namespace

LloydResult alternate(const Weighted& data, at::Tensor centers, CenterRule rule, const LloydOptions& options) {
  const auto n = static_cast<std::size_t>(data.rows.count());
  Assigned all{std::vector<std::int32_t>(n, -1), std::vector<double>(n), {}, {}};
  heatpp::detail::Watch watch;
  std::int64_t done = 0;
  bool converged = false;
  while (done < options.max_iterations) {
    assign(data, centers, watch, all);
    const auto objective = all.objective();
    if (done == 0) std::ranges::fill(all.costs, std::numeric_limits<double>::infinity());  // starts may be no rows
    fill_empty(data, all);
    auto moved = cluster_medians(data, all.labels, centers);
    if (rule == CenterRule::medoids) moved = medoids(data, centers, moved, all);
    const auto shift = (moved - centers).square().sum().item<double>();
    centers = moved;
    ++done;
    watch.ask(options.progress, FitProgress{done, options.max_iterations, objective});
    converged = all.changed == 0 || shift <= options.tolerance;
    if (converged || watch.ended()) break;
  }
  watch.settle(data.rows.comm(), data.rows.distributed());
  return {centers, done, converged, watch.ended()};
}

}  // namespace heatpp::ml::detail

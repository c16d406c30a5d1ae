#include <heatpp/ml/tree/detail/forest.hpp>

#include <ATen/Parallel.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/tree/detail/forest_growth.hpp>

#include <numeric>

namespace heatpp::ml::detail {

std::vector<std::uint8_t> bootstrap_times(const Rows& rows, std::uint64_t seed, std::int64_t tree) {
  constexpr std::int64_t chunk = random::detail::chunk<float>;
  const random::detail::Key key(seed_of(seed_of(seed, static_cast<std::uint64_t>(tree)), 0));
  std::vector<float> at_least;  // the least u for each number of draws of a row
  double term = std::exp(-1.0), below = 0;
  for (std::int64_t times = 1; times <= most_times; ++times) {
    below += term;
    at_least.push_back(static_cast<float>(below));
    term /= static_cast<double>(times);
  }
  std::vector<std::uint8_t> result(static_cast<std::size_t>(rows.count()));
  const auto first = rows.first(), last = first + rows.count();
  std::vector<float> u(chunk);
  for (auto at = first / chunk * chunk; at < last; at += chunk) {
    random::detail::uniform_chunks<float>(key, static_cast<std::uint64_t>(at / chunk * random::detail::lanes), 1, 0, 1,
                                          u.data());
    for (auto i = std::max(at, first); i < std::min(at + chunk, last); ++i) {
      std::uint8_t times = 0;
      for (const auto bound : at_least)
        times = static_cast<std::uint8_t>(times + (u[static_cast<std::size_t>(i - at)] >= bound));
      result[static_cast<std::size_t>(i - first)] = times;
    }
  }
  return result;
}

namespace {

/// Weights and targets as whole numbers.
struct Prepared {
  ForestUnits units;
  at::Tensor pairs;
  double middle = 0;  ///< of targets; pairs are relative to it
};

/// Returns weights in units; a row has at least one.
at::Tensor whole_weights(const at::Tensor& w, const ForestUnits& units) {
  return at::where(w > 0, (w / units.weight).round().clamp_min(1), 0.0);
}

Prepared prepared(const ForestTask& task, bool bootstrap) {
  const auto w = task.weights ? *task.weights : at::ones({task.rows.count()}, at::kDouble);
  const auto times = static_cast<double>(bootstrap ? most_times : 1);
  if (task.classes > 0) {
    const auto total = exact_sums(task.op, task.rows, {w})[0];
    const auto units = forest_units({task.rows.size(), task.classes, times, total, task.weights.has_value()});
    return {units, whole_weights(w, units).to(at::kLong)};
  }
  const auto sums = exact_sums(task.op, task.rows, {w, w * task.targets});
  const auto middle = sums[1] / sums[0];
  const auto gradients = w * (task.targets - middle);
  Totals largest(1, ReduceOp::max);
  largest.of(0)[0] = gradients.numel() > 0 ? gradients.abs().max().item<double>() : 0;
  const auto units =
      forest_units({task.rows.size(), 0, times, sums[0], task.weights.has_value(), largest.over_ranks(task.rows)[0]});
  return {units,
          at::stack({(gradients / units.gradient).round(), whole_weights(w, units)}, 1).to(at::kLong).contiguous(),
          middle};
}

std::vector<Drawn> drawn_rows(const ForestTask& task, const ForestLimits& limits, std::int64_t tree) {
  std::vector<Drawn> rows;
  const auto n = static_cast<std::size_t>(task.rows.count());
  rows.reserve(n);
  const auto times = limits.bootstrap ? bootstrap_times(task.rows, limits.seed, tree) : std::vector<std::uint8_t>(n, 1);
  const auto* w = task.weights ? task.weights->const_data_ptr<double>() : nullptr;
  for (std::size_t i = 0; i < n; ++i)
    if (times[i] > 0 && (!w || w[i] > 0))
      rows.emplace_back(static_cast<std::uint32_t>(i), times[i],
                        task.classes > 0 ? static_cast<std::uint32_t>(task.labels[i]) : 0);
  return rows;
}

/// Adds a tree's share of the gains of its splits.
void add_importances(std::vector<double>& importances, const std::vector<double>& gains) {
  const auto sum = std::accumulate(gains.begin(), gains.end(), 0.0);
  for (std::size_t j = 0; sum > 0 && j < gains.size(); ++j) importances[j] += gains[j] / sum;
}

/// Returns the number of trees with at least one split.
double dividing(const Trees& trees) {
  double count = 0;
  for (std::int64_t t = 0; t < trees.size(); ++t)
    count += trees.end_of(t) - trees.roots[static_cast<std::size_t>(t)] > 1;
  return count;
}

}  // namespace

std::shared_ptr<const FittedForest> grown_forest(const ForestTask& task, const ForestLimits& limits,
                                                 const FitCallback& progress, const FittedForest* before) {
  const auto known = before ? before->trees.size() : 0;
  if (known > limits.trees)
    heatpp::detail::raise<ValueError>(task.op, "got {} trees to continue a fit of {}; expected no fewer", limits.trees,
                                      known);
  if (known == limits.trees) return std::make_shared<FittedForest>(*before);
  const auto bins = find_bins(task.op, task.rows, limits.max_bins, limits.seed);
  const auto rows = binned(task.rows, bins);
  const auto numbers = prepared(task, limits.bootstrap);
  ForestGrower grower({task, limits, bins, rows, numbers.units, numbers.pairs});
  auto fitted = std::make_shared<FittedForest>();
  fitted->comm = task.rows.comm();
  fitted->trees.outputs = std::max<std::int64_t>(1, task.classes);
  fitted->importances.assign(static_cast<std::size_t>(bins.features), 0.0);
  constexpr std::int64_t at_once = 8;
  heatpp::detail::Watch watch;
  for (auto first = known; first < limits.trees && !watch.ended(); first += at_once) {
    std::vector<GrowingTree> trees;
    for (auto t = first; t < std::min(limits.trees, first + at_once); ++t) {
      trees.push_back({t, {.outputs = fitted->trees.outputs}});
      trees.back().gains.assign(fitted->importances.size(), 0.0);
    }
    at::parallel_for(0, std::ssize(trees), 1, [&](std::int64_t t, std::int64_t last) {
      for (; t < last; ++t) trees[static_cast<std::size_t>(t)].rows = drawn_rows(task, limits, first + t);
    });
    auto votes = static_cast<std::int64_t>(watch.vote());
    grower.grow(trees, votes);
    watch.hear(static_cast<double>(votes));
    for (const auto& tree : trees) {
      fitted->trees.append(tree.tree);
      add_importances(fitted->importances, tree.gains);
    }
    const FitProgress done{known + fitted->trees.size(), limits.trees, 0};
    if (done.done < done.total) watch.ask(progress, done);
  }
  watch.settle(task.rows.comm(), task.rows.distributed());
  if (task.classes == 0)
    for (auto& value : fitted->trees.values) value += numbers.middle;
  if (before) {
    for (std::size_t j = 0; j < fitted->importances.size(); ++j)
      fitted->importances[j] += before->importances[j] * dividing(before->trees);
    auto all = before->trees;
    all.append(fitted->trees);
    fitted->trees = std::move(all);
  }
  auto whole = std::move(fitted->importances);
  fitted->importances.assign(whole.size(), 0.0);
  add_importances(fitted->importances, whole);
  return fitted;
}

}  // namespace heatpp::ml::detail

#include <heatpp/ml/tree/detail/losses.hpp>

#include <ATen/Parallel.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/tree/detail/group_quantiles.hpp>

namespace heatpp::ml::detail {
namespace {

enum class Curvature { one, mean, mean_of_two };

Curvature curvature_of(Loss loss) {
  if (loss == Loss::squared_error || !smooth(loss)) return Curvature::one;
  return loss == Loss::poisson ? Curvature::mean : Curvature::mean_of_two;
}

at::Tensor target_of(const Task& task, std::int64_t output) {
  return task.loss == Loss::softmax ? task.targets.eq(static_cast<double>(output)).to(at::kDouble) : task.targets;
}

at::Tensor means_of(const Task& task, const at::Tensor& scores) {
  switch (task.loss) {
    case Loss::squared_error:
    case Loss::absolute_error:
    case Loss::quantile: return scores;
    case Loss::poisson: return scores.exp();
    case Loss::two_classes: return scores.sigmoid();
    case Loss::softmax: break;
  }
  return scores.softmax(0);
}

/// The first derivatives of a piecewise linear loss, for scores up to y and above.
struct Slopes {
  double below = 0, above = 0;
};
Slopes slopes_of(const Task& task) {
  if (task.loss == Loss::absolute_error) return {-1, 1};
  return {-task.quantile, 1 - task.quantile};
}

/// Numbers of consecutive rows; weights are null for 1.
struct Run {
  const double *mean, *target, *weight;
  const std::uint32_t* bits;  ///< random bits of the rows, for rounding
  std::int64_t count;
};
struct PairUnits {
  double per_gradient, per_weight;
  std::int64_t one;
  Slopes slopes{};
};

#define HEATPP_PAIRS(name, slope, curvature)                                                    \
  HEATPP_SIMD void name(const Run& run, const PairUnits& units, std::int64_t* __restrict out) { \
    const auto* __restrict bits = run.bits;                                                     \
    for (std::int64_t i = 0; i < run.count; ++i) {                                              \
      const auto m = run.mean[i], w = run.weight ? run.weight[i] : 1.0;                         \
      out[2 * i] = in_units(w * (slope)*units.per_gradient, bits[i]);                           \
      out[2 * i + 1] = in_units(w * (curvature)*units.per_weight, bits[i] >> 16) + units.one;   \
    }                                                                                           \
  }
HEATPP_PAIRS(pairs_of_one, m - run.target[i], 1.0 + 0.0 * m)
HEATPP_PAIRS(pairs_of_mean, m - run.target[i], m)
HEATPP_PAIRS(pairs_of_two, m - run.target[i], m*(1.0 - m))
HEATPP_PAIRS(pairs_of_corner, m > run.target[i] ? units.slopes.above : units.slopes.below, 1.0)
#undef HEATPP_PAIRS

/// Returns the largest first and second derivatives of all ranks.
std::pair<double, double> largest_of(const Task& task, const at::Tensor& means) {
  Totals largest(2, ReduceOp::max);
  auto own = largest.of(0);
  own[0] = own[1] = 0;
  if (means.numel() > 0) {
    const auto weigh = [&](const at::Tensor& x) { return task.weights ? x * *task.weights : x; };
    own[0] = weigh((means[0] - task.targets).abs()).max().item<double>();
    own[1] = weigh(means[0]).max().item<double>();
  }
  const auto most = largest.over_ranks(task.rows);
  return {most[0], most[1]};
}

at::Tensor losses_of(const Task& task, const at::Tensor& scores) {
  const auto& y = task.targets;
  switch (task.loss) {
    case Loss::squared_error: return (scores[0] - y).square() / 2;
    case Loss::absolute_error:
    case Loss::quantile: {
      const auto [below, above] = slopes_of(task);
      return at::maximum((scores[0] - y) * above, (scores[0] - y) * below);
    }
    case Loss::poisson: return scores[0].exp() - y * scores[0];
    case Loss::two_classes:
      return scores[0].abs().neg_().exp_().log1p_().add_(scores[0].clamp_min(0)).sub_(y * scores[0]);
    case Loss::softmax: break;
  }
  return scores.logsumexp(0) - scores.gather(0, y.to(at::kLong).unsqueeze(0))[0];
}

/// Returns the quantile of the training targets.
double best_constant(const Task& task, double total_weight) {
  Groups all(task.weights ? std::optional(total_weight) : std::nullopt);
  const auto* y = task.targets.const_data_ptr<double>();
  const auto* mine = task.training.const_data_ptr<double>();
  for (std::int64_t i = 0; i < task.rows.count(); ++i)
    if (mine[i] > 0) all.add(y[i], weight_of(task, i));
  all.end();
  return group_quantiles(task.rows, std::move(all), task.quantile)[0];
}

}  // namespace

double weight_of(const Task& task, std::int64_t row) {
  return task.weights ? task.weights->const_data_ptr<double>()[row] : 1.0;
}

std::vector<double> baseline(const Task& task, double& total_weight) {
  const auto w = task.weights ? *task.weights * task.training : task.training;
  std::vector<at::Tensor> columns{w};
  for (std::int64_t k = 0; k < task.outputs; ++k) columns.push_back(w * target_of(task, k));
  const auto sums = exact_sums(task.op, task.rows, columns);
  total_weight = sums[0];
  if (!smooth(task.loss)) return {best_constant(task, total_weight)};
  std::vector<double> scores;
  constexpr double least = 0x1p-52;
  for (std::size_t k = 1; k < sums.size(); ++k) {
    const auto mean = sums[k] / total_weight, share = std::clamp(mean, least, 1 - least);
    if (task.loss == Loss::squared_error) scores.push_back(mean);
    else if (task.loss == Loss::poisson) scores.push_back(std::log(std::max(mean, least)));
    else scores.push_back(task.loss == Loss::softmax ? std::log(share) : std::log(share / (1 - share)));
  }
  if (task.loss != Loss::softmax) return scores;
  double middle = 0;
  for (const auto score : scores) middle += score / static_cast<double>(scores.size());
  for (auto& score : scores) score -= middle;
  return scores;
}

Derivatives::Derivatives(const Task& task, double total_weight) : task_(task), total_weight_(total_weight) {
  for (std::int64_t i = 0; i < task.rows.count(); ++i)
    bits_.push_back(bits_of_row(static_cast<std::uint64_t>(task.rows.first() + i)));
  if (!task.weights) return;
  Totals largest(1, ReduceOp::max);
  largest.of(0)[0] = task.weights->numel() > 0 ? task.weights->max().item<double>() : 0;
  largest_weight_ = largest.over_ranks(task.rows)[0];
}

void Derivatives::at(const at::Tensor& scores) {
  means_ = means_of(task_, scores);
  const auto n = task_.rows.size();
  if (task_.loss == Loss::two_classes || task_.loss == Loss::softmax) {
    units_ = units_for(n, total_weight_ / 4, largest_weight_ / 4, largest_weight_);
    return;
  }
  if (!smooth(task_.loss)) {
    units_ = units_for(n, total_weight_, largest_weight_, largest_weight_);
    return;
  }
  const auto [gradient, weight] = largest_of(task_, means_);
  const auto total = task_.loss == Loss::poisson ? weight * static_cast<double>(n) : total_weight_;
  units_ = units_for(n, total, task_.loss == Loss::poisson ? weight : largest_weight_, gradient);
}

void Derivatives::write_pairs(std::int64_t output, const at::Tensor& pairs) const {
  const auto mean = means_[output], target = target_of(task_, output);
  const auto* m = mean.const_data_ptr<double>();
  const auto* t = target.const_data_ptr<double>();
  const auto* w = task_.weights ? task_.weights->const_data_ptr<double>() : nullptr;
  auto* out = pairs.mutable_data_ptr<std::int64_t>();
  const PairUnits units{1 / units_.gradient, 1 / units_.weight, units_.one(), slopes_of(task_)};
  constexpr std::int64_t few = 1 << 14;
  at::parallel_for(0, mean.numel(), few, [&](std::int64_t first, std::int64_t last) {
    const Run run{m + first, t + first, w ? w + first : nullptr, bits_.data() + first, last - first};
    switch (curvature_of(task_.loss)) {
      case Curvature::one:
        return smooth(task_.loss) ? pairs_of_one(run, units, out + 2 * first)
                                  : pairs_of_corner(run, units, out + 2 * first);
      case Curvature::mean: return pairs_of_mean(run, units, out + 2 * first);
      case Curvature::mean_of_two: return pairs_of_two(run, units, out + 2 * first);
    }
  });
}

MeanLosses mean_losses(const Task& task, const at::Tensor& scores) {
  const auto w = task.weights ? *task.weights : at::ones_like(task.training);
  const auto losses = losses_of(task, scores) * w, mine = task.training, others = 1 - task.training;
  auto sums = at::stack({(losses * mine).sum(), (w * mine).sum(), (losses * others).sum(), (w * others).sum()});
  sum_over_ranks(task.rows, sums, std::nullopt);
  const auto* s = sums.const_data_ptr<double>();
  return {s[0] / s[1], s[2] / s[3]};
}

}  // namespace heatpp::ml::detail

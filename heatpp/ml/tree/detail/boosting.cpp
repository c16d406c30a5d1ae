#include <heatpp/ml/tree/detail/boosting.hpp>

#include <ATen/Parallel.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/tree/detail/boosted_tree.hpp>
#include <heatpp/ml/tree/detail/group_quantiles.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::ml::detail {

template <class T>
void FittedBoosting::add_scores(const Piece<T>& piece, double* scores, std::int64_t of_row,
                                std::int64_t of_output) const {
  for (std::int64_t k = 0; k < outputs(); ++k)
    for (std::int64_t i = 0; i < piece.rows; ++i)
      scores[i * of_row + k * of_output] += baseline[static_cast<std::size_t>(k)];
  if (!categories.empty()) {
    const auto rows = by_position(piece, categories);
    return add_trees(Piece<T>{rows.data(), piece.rows, piece.features, piece.first}, scores, of_row, of_output);
  }
  add_trees(piece, scores, of_row, of_output);
}

template <class T>
void FittedBoosting::add_trees(const Piece<T>& piece, double* scores, std::int64_t of_row,
                               std::int64_t of_output) const {
  for (std::int64_t t = 0; t < trees.size(); ++t)
    trees.visit(t, piece, [column = scores + t % outputs() * of_output, of_row](std::int64_t i, const double* value) {
      column[i * of_row] += *value;
    });
}
template void FittedBoosting::add_scores(const Piece<float>&, double*, std::int64_t, std::int64_t) const;
template void FittedBoosting::add_scores(const Piece<double>&, double*, std::int64_t, std::int64_t) const;

namespace {

/// Whether no loss of the last iterations is lower, by `tol`, than that before them.
bool settled(const std::vector<double>& losses, std::int64_t iterations, double tol) {
  if (std::ssize(losses) <= iterations) return false;
  const auto last = losses.end() - iterations;
  return std::all_of(last, losses.end(), [&](double loss) { return !(loss < last[-1] - tol); });
}

/// One fit: the scores of all rows, updated tree by tree.
class Boosting {
 public:
  Boosting(const Task& task, const HistGradientBoostingOptions& options, std::shared_ptr<const FittedBoosting> start);
  std::shared_ptr<const FittedBoosting> run();

 private:
  void start_scores();
  /// Computes losses after an iteration; returns whether to continue.
  bool judge(std::int64_t iteration);
  void grow(std::int64_t output);
  /// Sets leaves to quantiles of the residuals for losses without second derivatives.
  void write_quantiles(GrownTree& grown) const;
  void add_to_scores(std::int64_t output, const GrownTree& grown);

  const Task& task_;
  const HistGradientBoostingOptions& options_;
  Bins bins_;
  BinnedRows binned_;
  TreeGrower grower_;
  std::shared_ptr<FittedBoosting> fitted_;
  at::Tensor scores_, pairs_;
  std::vector<std::uint32_t> order_, others_;
  std::optional<Derivatives> derivatives_;
  std::vector<double> losses_;
  double total_weight_ = 0;
  bool stops_early_ = false, watched_ = false;
  heatpp::detail::Watch watch_;
};

GrowthLimits limits_of(const HistGradientBoostingOptions& o) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  const bool any = std::ranges::any_of(o.monotonic_cst, [](auto direction) { return direction != 0; });
  return {o.max_leaf_nodes.value_or(none), o.max_depth.value_or(none), o.min_samples_leaf, o.l2_regularization,
          any ? o.monotonic_cst : std::vector<std::int64_t>{}};
}

bool any_rank(const Rows& rows, bool here) {
  Totals any(1, ReduceOp::max);
  any.of(0)[0] = here ? 1 : 0;
  return any.over_ranks(rows)[0] > 0;
}

Boosting::Boosting(const Task& task, const HistGradientBoostingOptions& options,
                   std::shared_ptr<const FittedBoosting> start)
    : task_(task),
      options_(options),
      bins_(find_bins(task.op, task.rows, options.max_bins, options.seed,
                      categorical_positions(task.op, options.categorical_features, task.rows.features()))),
      binned_(binned(task.rows, bins_)),
      grower_(task.rows, bins_, binned_, limits_of(options)) {
  auto best = baseline(task, total_weight_);
  if (!(total_weight_ > 0))
    heatpp::detail::raise<ValueError>(task.op, "got training rows whose weights sum to 0; expected a sum above 0");
  auto categories = categories_in(bins_);
  if (options.warm_start && start && start->features == task.rows.features() && start->outputs() == task.outputs) {
    if (start->categories != categories)
      heatpp::detail::raise<ValueError>(task.op, "got other categories than before with warm_start; expected the same");
    fitted_ = std::make_shared<FittedBoosting>(*start);
  } else {
    fitted_ = std::make_shared<FittedBoosting>(
        FittedBoosting{std::move(best), {}, task.rows.features(), task.rows.comm(), std::move(categories)});
  }
  derivatives_.emplace(task, total_weight_);
  const auto* mine = task.training.const_data_ptr<double>();
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(task.rows.count()); ++i)
    (mine[i] > 0 ? order_ : others_).push_back(i);
  pairs_ = at::empty({2 * task.rows.count()}, at::kLong);
  stops_early_ = stops_early(options, task.rows);
  watched_ = any_rank(task.rows, options.progress != nullptr) || stops_early_;
  start_scores();
}

void Boosting::start_scores() {
  const auto n = task_.rows.count();
  scores_ = at::zeros({task_.outputs, n}, at::kDouble);
  auto* scores = scores_.mutable_data_ptr<double>();
  const auto work = [&] {
    if (fitted_->trees.size() == 0)
      for (std::int64_t k = 0; k < task_.outputs; ++k) scores_[k].fill_(fitted_->baseline[static_cast<std::size_t>(k)]);
    else
      for_pieces(task_.rows, [&](const auto& piece, int) { fitted_->add_scores(piece, scores + piece.first, 1, n); });
  };
  if (task_.rows.in_memory()) work();
  else all_or_none(task_.rows.comm(), work);
}

bool Boosting::judge(std::int64_t iteration) {
  if (!watched_) return true;
  const auto mean = mean_losses(task_, scores_);
  if (stops_early_) {
    losses_.push_back(options_.validation_fraction > 0 && mean.others == mean.others ? mean.others : mean.training);
    if (settled(losses_, options_.n_iter_no_change, options_.tol)) return false;
  }
  watch_.ask(options_.progress, FitProgress{iteration + 1, options_.max_iterations, mean.training});
  return true;
}

void Boosting::add_to_scores(std::int64_t output, const GrownTree& grown) {
  auto* scores = scores_[output].mutable_data_ptr<double>();
  at::parallel_for(0, std::ssize(grown.leaves), 1, [&](std::int64_t first, std::int64_t last) {
    for (auto l = first; l < last; ++l) {
      const auto& leaf = grown.leaves[static_cast<std::size_t>(l)];
      const auto value = *grown.tree.value(leaf.node);
      for (const auto row : leaf.rows) scores[row] += value;
    }
  });
  for (const auto row : others_) {
    const auto* bins = binned_.data() + row * static_cast<std::size_t>(binned_.stride);
    scores[row] += *grown.tree.value(grown.tree.leaf_of_bins(0, bins, bins_.count.data()));
  }
}

void Boosting::write_quantiles(GrownTree& grown) const {
  Groups groups(task_.weights ? std::optional(total_weight_) : std::nullopt);
  const auto* y = task_.targets.const_data_ptr<double>();
  const auto* score = scores_.const_data_ptr<double>();
  for (const auto& leaf : grown.leaves) {
    for (const auto row : leaf.rows) groups.add(y[row] - score[row], weight_of(task_, row));
    groups.end();
  }
  const auto values = group_quantiles(task_.rows, std::move(groups), task_.quantile);
  for (std::size_t l = 0; l < values.size(); ++l)
    grown.tree.values[static_cast<std::size_t>(grown.leaves[l].node)] = values[l];
  if (const auto directions = limits_of(options_).directions; !directions.empty())
    keep_directions(grown.tree, directions);
}

void Boosting::grow(std::int64_t output) {
  derivatives_->write_pairs(output, pairs_);
  auto grown = grower_.grow(pairs_, order_, derivatives_->units(), watch_);
  if (!smooth(task_.loss)) write_quantiles(grown);
  for (auto& value : grown.tree.values) value *= options_.learning_rate;
  add_to_scores(output, grown);
  fitted_->trees.append(grown.tree);
}

std::shared_ptr<const FittedBoosting> Boosting::run() {
  for (auto iteration = fitted_->iterations(); !watch_.ended() && iteration < options_.max_iterations; ++iteration) {
    if (!judge(iteration)) break;
    derivatives_->at(scores_);
    for (std::int64_t k = 0; k < task_.outputs; ++k) grow(k);
  }
  watch_.settle(task_.rows.comm(), task_.rows.distributed());
  return fitted_;
}

}  // namespace

std::shared_ptr<const FittedBoosting> boosted(Task task, const HistGradientBoostingOptions& options,
                                              std::shared_ptr<const FittedBoosting> start) {
  const auto n = task.rows.count();
  task.training = at::ones({n}, at::kDouble);
  if (stops_early(options, task.rows) && options.validation_fraction > 0) {
    const RowRandom random(options.seed, 1);
    auto* mine = task.training.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < n; ++i)
      if (random.uniform(task.rows.first() + i) < options.validation_fraction) mine[i] = 0;
  }
  return Boosting(task, options, std::move(start)).run();
}

}  // namespace heatpp::ml::detail

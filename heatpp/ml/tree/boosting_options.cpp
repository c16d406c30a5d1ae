#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/tree/detail/boosting.hpp>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::raise;

void check_numbers(const char* op, const HistGradientBoostingOptions& o) {
  if (!(o.learning_rate > 0) || o.max_iterations < 1 || o.max_leaf_nodes.value_or(2) < 2 ||
      o.max_depth.value_or(1) < 1 || o.min_samples_leaf < 1 || !(o.l2_regularization >= 0) || o.max_bins < 2 ||
      o.max_bins > most_bins)
    raise<ValueError>(
        op,
        "got learning_rate {}, {} iterations, max_leaf_nodes {}, max_depth {}, min_samples_leaf {}, l2_regularization "
        "{} and {} bins; expected learning_rate > 0, iterations, max_depth and min_samples_leaf >= 1, max_leaf_nodes "
        ">= "
        "2, l2_regularization >= 0 and 2 to 255 bins",
        o.learning_rate, o.max_iterations, o.max_leaf_nodes.value_or(0), o.max_depth.value_or(0), o.min_samples_leaf,
        o.l2_regularization, o.max_bins);
  if (!(o.validation_fraction >= 0 && o.validation_fraction < 1) || o.n_iter_no_change < 1 || !(o.tol >= 0))
    raise<ValueError>(op,
                      "got validation_fraction {}, n_iter_no_change {} and tol {}; expected 0 <= "
                      "validation_fraction < 1, n_iter_no_change >= 1 and tol >= 0",
                      o.validation_fraction, o.n_iter_no_change, o.tol);
}

/// Checks directions and categories, which belong to features.
void check_of_features(const char* op, const HistGradientBoostingOptions& o, std::int64_t features) {
  const auto& directions = o.monotonic_cst;
  if (!directions.empty() && std::ssize(directions) != features)
    raise<ValueError>(op, "got {} directions in monotonic_cst for {} features; expected one for each",
                      directions.size(), features);
  const auto wrong = std::ranges::find_if(directions, [](auto d) { return d < -1 || d > 1; });
  if (wrong != directions.end()) raise<ValueError>(op, "got {} in monotonic_cst; expected 1, 0 and -1", *wrong);
  for (const auto j : categorical_positions(op, o.categorical_features, features))
    if (!directions.empty() && directions[static_cast<std::size_t>(j)] != 0)
      raise<ValueError>(op, "got a direction of feature {}, which has categories; expected none", j);
}

std::vector<std::int64_t> positions_in(const char* op, const std::vector<bool>& mask, std::int64_t features) {
  if (std::ssize(mask) != features)
    raise<ValueError>(op, "got {} truth values in categorical_features for {} features; expected one for each",
                      mask.size(), features);
  std::vector<std::int64_t> positions;
  for (std::size_t j = 0; j < mask.size(); ++j)
    if (mask[j]) positions.push_back(static_cast<std::int64_t>(j));
  return positions;
}

void check_positions(const char* op, std::vector<std::int64_t> order, std::int64_t features) {
  std::ranges::sort(order);
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] < 0 || order[i] >= features || (i > 0 && order[i - 1] == order[i]))
      raise<ValueError>(op, "got feature {} in categorical_features; expected different ones from 0 to {}", order[i],
                        features - 1);
}

}  // namespace

std::vector<std::int64_t> categorical_positions(const char* op, const FeatureChoice& choice, std::int64_t features) {
  if (const auto* mask = std::get_if<std::vector<bool>>(&choice.given())) return positions_in(op, *mask, features);
  const auto& positions = std::get<std::vector<std::int64_t>>(choice.given());
  check_positions(op, positions, features);
  return positions;
}

bool stops_early(const HistGradientBoostingOptions& options, const Rows& rows) {
  constexpr std::int64_t many_rows = 10'000;
  return options.early_stopping.value_or(rows.size() > many_rows);
}

void check_options(const char* op, const HistGradientBoostingOptions& options, std::int64_t features) {
  check_numbers(op, options);
  check_of_features(op, options, features);
  const auto q = options.quantile.value_or(-1);
  if (options.loss == BoostingLoss::quantile && !(q > 0 && q < 1))
    raise<ValueError>(op, "got {} for the quantile loss; expected quantile, a number between 0 and 1",
                      options.quantile ? heatpp::detail::formatted("quantile {}", q) : std::string("no quantile"));
}

}  // namespace heatpp::ml::detail

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/tree/detail/boosting.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace heatpp {

using namespace ml::detail;

namespace {

constexpr std::array losses{"squared_error", "poisson", "absolute_error", "quantile"};

std::string text_of_numbers(const std::vector<std::int64_t>& numbers) {
  std::ostringstream text;
  for (std::size_t i = 0; i < numbers.size(); ++i) text << (i > 0 ? " " : "") << numbers[i];
  return text.str();
}

/// Returns whole numbers separated by spaces; none for older states.
std::vector<std::int64_t> numbers_in(const StateReader& read, const char* name, std::size_t from = 0) {
  std::vector<std::int64_t> numbers;
  if (!read.has_option(name)) return numbers;
  std::istringstream words(read.text(name).substr(from));
  for (std::string word; words >> word;) {
    const auto* last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), last, numbers.emplace_back());
    if (error != std::errc() || end != last)
      detail::raise<ValueError>(read.op(), "got \"{}\" for {}; expected whole numbers", read.text(name), name);
  }
  return numbers;
}

constexpr std::string_view of_mask = "mask";

/// Returns positions as they are, and a mask as the word mask and its values.
std::string text_of_features(const FeatureChoice& choice) {
  if (const auto* positions = std::get_if<std::vector<std::int64_t>>(&choice.given()))
    return text_of_numbers(*positions);
  const auto& mask = std::get<std::vector<bool>>(choice.given());
  return std::string(of_mask) + " " + text_of_numbers({mask.begin(), mask.end()});
}

FeatureChoice features_in(const StateReader& read) {
  constexpr auto name = "categorical_features";
  if (!read.has_option(name) || !read.text(name).starts_with(of_mask)) return numbers_in(read, name);
  const auto mask = numbers_in(read, name, of_mask.size());
  return std::vector<bool>(mask.begin(), mask.end());
}

/// Returns the loss; older states tell only whether it is Poisson's.
BoostingLoss loss_in(const StateReader& read) {
  if (read.has_option("loss")) return read.choice<BoostingLoss>("loss", losses);
  return read.option<bool>("poisson") ? BoostingLoss::poisson : BoostingLoss::squared_error;
}

std::map<std::string, std::string> texts_of(const HistGradientBoostingOptions& o) {
  return {{"loss", losses[static_cast<std::size_t>(o.loss)]},
          {"quantile", text_of(o.quantile)},
          {"learning_rate", text_of(o.learning_rate)},
          {"max_iterations", text_of(o.max_iterations)},
          {"max_leaf_nodes", text_of(o.max_leaf_nodes.value_or(0))},
          {"max_depth", text_of(o.max_depth.value_or(0))},
          {"min_samples_leaf", text_of(o.min_samples_leaf)},
          {"l2_regularization", text_of(o.l2_regularization)},
          {"max_bins", text_of(o.max_bins)},
          {"monotonic_cst", text_of_numbers(o.monotonic_cst)},
          {"categorical_features", text_of_features(o.categorical_features)},
          {"warm_start", text_of(o.warm_start)},
          {"early_stopping", text_of(o.early_stopping)},
          {"validation_fraction", text_of(o.validation_fraction)},
          {"n_iter_no_change", text_of(o.n_iter_no_change)},
          {"tol", text_of(o.tol)},
          {"seed", text_of(o.seed)},
          {"class_weight", text_of(o.class_weight)}};
}

HistGradientBoostingOptions boosting_options(const StateReader& read) {
  return {.loss = loss_in(read),
          .quantile = read.optional_or<double>("quantile", std::nullopt),
          .learning_rate = read.option<double>("learning_rate"),
          .max_iterations = read.option<std::int64_t>("max_iterations"),
          .max_leaf_nodes = number_or_none(read, "max_leaf_nodes"),
          .max_depth = number_or_none(read, "max_depth"),
          .min_samples_leaf = read.option<std::int64_t>("min_samples_leaf"),
          .l2_regularization = read.option<double>("l2_regularization"),
          .max_bins = read.option<std::int64_t>("max_bins"),
          .monotonic_cst = numbers_in(read, "monotonic_cst"),
          .categorical_features = features_in(read),
          .warm_start = read.option<bool>("warm_start"),
          .early_stopping = read.optional_or<bool>("early_stopping", false),
          .validation_fraction = read.option<double>("validation_fraction"),
          .n_iter_no_change = read.option<std::int64_t>("n_iter_no_change"),
          .tol = read.option<double>("tol"),
          .seed = read.option<std::uint64_t>("seed"),
          .class_weight = class_weights_from(read.op(), read.text("class_weight"))};
}

ModelState boosting_state(const char* kind, const HistGradientBoostingOptions& options, const LearntBoosting& learnt) {
  ModelState state{kind, texts_of(options), {}};
  state.options.insert({"features", text_of(learnt.features)});
  state.arrays.insert({"baseline", replicated(at::tensor(learnt.baseline, at::kDouble), float64, *learnt.comm)});
  write_trees(learnt.trees, *learnt.comm, state);
  if (learnt.categories.empty()) return state;
  std::vector<double> all;
  std::vector<std::int64_t> counts;
  for (const auto& categories : learnt.categories) {
    all.insert(all.end(), categories.begin(), categories.end());
    counts.push_back(std::ssize(categories));
  }
  state.arrays.insert({{"categories", replicated(at::tensor(all, at::kDouble), float64, *learnt.comm)},
                       {"category_counts", replicated(at::tensor(counts, at::kLong), int64, *learnt.comm)}});
  return state;
}

void check_rising(const StateReader& read, const std::vector<double>& categories, std::int64_t feature) {
  for (std::size_t i = 1; i < categories.size(); ++i)
    if (!(categories[i - 1] < categories[i]))
      detail::raise<ValueError>(read.op(), "got categories {} and {} of feature {}; expected different ones, rising",
                                categories[i - 1], categories[i], feature);
}

/// Returns the categories of features; a state without categories lacks them.
Categories categories_from(const StateReader& read, std::int64_t features) {
  Categories result;
  if (!read.has_array("category_counts") && !read.has_array("categories")) return result;
  const auto counts = read.whole_numbers("category_counts", {features}).larray();
  const auto all = numbers_from(read.array("categories", {-1}));
  std::int64_t at = 0;
  for (std::int64_t j = 0; j < features; ++j) {
    const auto count = counts.const_data_ptr<std::int64_t>()[j];
    if (count < 0 || count > most_bins || count > std::ssize(all) - at)
      detail::raise<ValueError>(read.op(), "got {} categories of feature {}; expected up to {}, of {} of all", count, j,
                                most_bins, all.size());
    check_rising(read, result.emplace_back(all.begin() + at, all.begin() + at + count), j);
    at += count;
  }
  if (at != std::ssize(all))
    detail::raise<ValueError>(read.op(), "got {} categories; expected as many as category_counts says, {}", all.size(),
                              at);
  return result;
}

/// Whether nodes use sets for features with categories, and thresholds for others.
bool fits(const Trees& trees, const Categories& categories) {
  const auto any_of = [&](std::int32_t feature) {
    return !categories.empty() && !categories[static_cast<std::size_t>(feature)].empty();
  };
  return std::ranges::all_of(trees.nodes,
                             [&](const TreeNode& node) { return node.leaf() || node.by_set == any_of(node.feature); });
}

std::shared_ptr<const LearntBoosting> read_boosting(const StateReader& read) {
  const auto baseline = read.array("baseline", {-1});
  const auto features = read.option<std::int64_t>("features");
  if (features < 1) detail::raise<ValueError>(read.op(), "got {} features; expected one at least", features);
  LearntBoosting learnt{numbers_from(baseline), read_trees(read, features), features, baseline.comm(),
                        categories_from(read, features)};
  if (learnt.outputs() < 1 || learnt.trees.outputs != 1 || learnt.trees.size() % learnt.outputs() != 0)
    detail::raise<ValueError>(read.op(),
                              "got {} trees of {} values and {} baselines; expected trees of one value for each",
                              learnt.trees.size(), learnt.trees.outputs, learnt.outputs());
  if (!fits(learnt.trees, learnt.categories))
    detail::raise<ValueError>(read.op(),
                              "got sets of categories for features without any, or thresholds for features with some; "
                              "expected sets for features with categories and thresholds for others");
  return std::make_shared<const LearntBoosting>(std::move(learnt));
}

}  // namespace

ModelState HistGradientBoostingRegressor::state() const { return boosting_state(kind(), options_, learnt("state")); }

HistGradientBoostingRegressor HistGradientBoostingRegressor::from_state(const ModelState& state) {
  const StateReader read("HistGradientBoostingRegressor", state);
  HistGradientBoostingRegressor model(boosting_options(read));
  model.learnt_ = read_boosting(read);
  if (model.learnt_->outputs() != 1)
    detail::raise<ValueError>(read.op(), "got {} baselines of a regressor; expected 1", model.learnt_->outputs());
  return model;
}

ModelState HistGradientBoostingClassifier::state() const {
  auto state = boosting_state(kind(), options_, learnt("state"));
  state.arrays.insert({"classes", classes_->values});
  return state;
}

HistGradientBoostingClassifier HistGradientBoostingClassifier::from_state(const ModelState& state) {
  const StateReader read("HistGradientBoostingClassifier", state);
  HistGradientBoostingClassifier model(boosting_options(read));
  model.learnt_ = read_boosting(read);
  const auto outputs = model.learnt_->outputs();
  model.classes_ = Classes{read.whole_numbers("classes", {outputs == 1 ? 2 : outputs}), model.learnt_->features};
  return model;
}

}  // namespace heatpp

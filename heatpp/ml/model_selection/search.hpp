#pragma once

#include <heatpp/ml/model_selection/splitting.hpp>
#include <heatpp/ml/estimator.hpp>

#include <tuple>
#include <type_traits>

namespace heatpp {

template <class Model>
struct CrossValOptions {
  std::vector<Fold> folds = {};  ///< none: five, for classifiers stratified by the labels
  /// The quality of a fitted model, larger is better; none: its `score`.
  std::function<double(const Model&, const DNDarray& x, const DNDarray& y)> score = {};
};

/// Makes a `CrossValOptions::score` of a metric for true and predicted targets, `judged_by(ht::accuracy_score)`; minus
/// the metric with `sign` -1.
template <class Metric>
[[nodiscard]] auto judged_by(Metric metric, double sign = 1) {
  return
      [=](const auto& model, const DNDarray& x, const DNDarray& y) { return sign * metric(y, model.predict(x), {}); };
}

namespace ml::detail {

/// Returns the given folds, or else folds of the rows, stratified by `labels`. Throws ValueError for another number of
/// targets than rows.
[[nodiscard]] std::vector<Fold> folds_for(const char* op, const DNDarray& x, const DNDarray& y,
                                          const std::vector<Fold>& given, bool labels);
/// Returns the rows for which a mask, brought to their cut, is true.
[[nodiscard]] DNDarray rows_where(const DNDarray& x, const DNDarray& mask);

/// Collects results of test rows fold by fold.
class FoldResults {
 public:
  /// Throws ValueError unless each row of `x` is a test row in exactly one fold. Collective.
  FoldResults(const DNDarray& x, const std::vector<Fold>& folds);
  /// Throws ValueError for other classes than in the folds before, since columns would not match.
  void check_classes(const DNDarray& classes);
  void put(const DNDarray& test, const DNDarray& results);
  [[nodiscard]] const DNDarray& all() const { return *all_; }

 private:
  Layout samples_;
  std::optional<DNDarray> all_;
  std::optional<std::vector<std::int64_t>> classes_;
};

template <class Model>
void fit_to(Model& model, const DNDarray& x, const DNDarray& y) {
  if constexpr (requires { model.fit(x, y); }) model.fit(x, y);
  else model.fit(x);
}
template <class Model>
double score_of(const Model& model, const DNDarray& x, const DNDarray& y, const CrossValOptions<Model>& options) {
  if (options.score) return options.score(model, x, y);
  if constexpr (requires { model.score(x, y); }) return model.score(x, y);
  else if constexpr (requires { model.score(x); }) return model.score(x);
  else throw ValueError("[cross_val_score] got no score for a model without one; expected CrossValOptions::score");
}

/// Returns the result for one model in each fold.
template <class Model>
std::vector<double> fold_scores(const Model& model, const DNDarray& x, const DNDarray& y,
                                const std::vector<Fold>& folds, const CrossValOptions<Model>& options) {
  std::vector<double> scores;
  for (const auto& [train, test] : folds) {
    auto copy = model;
    fit_to(copy, rows_where(x, train), rows_where(y, train));
    scores.push_back(score_of(copy, rows_where(x, test), rows_where(y, test), options));
  }
  return scores;
}

}  // namespace ml::detail

/// Returns the scores of copies of the model, each fitted to all folds but one and scored on that one. Rows stay on
/// their ranks; costs those of the fits, and two new cuts of `x` and of `y` a fold. Collective.
template <class Model>
[[nodiscard]] std::vector<double> cross_val_score(const Model& model, const DNDarray& x, const DNDarray& y,
                                                  const std::type_identity_t<CrossValOptions<Model>>& options = {}) {
  return ml::detail::fold_scores(
      model, x, y, ml::detail::folds_for("cross_val_score", x, y, options.folds, HasClasses<Model>), options);
}

template <class Model>
struct CrossValPredictOptions {
  std::vector<Fold> folds = {};  ///< each row is a test row in one of them; none: as in CrossValOptions
  /// The prediction of a fitted model; none: its `predict`.
  std::function<DNDarray(const Model&, const DNDarray& x)> predict = {};
};

/// Returns predictions for each fold of copies of the model that are fitted to the other folds: one for each row,
/// cut as the rows. Costs those of the fits and predictions, two new cuts of `x` and one of `y` a fold, and the
/// writes of each fold's results to a mask. Collective. Throws ValueError for folds in which a row is not a test row
/// exactly once, for results of other shapes than those of the first fold, and with `predict` for folds without some
/// labels.
template <class Model>
[[nodiscard]] DNDarray cross_val_predict(const Model& model, const DNDarray& x, const DNDarray& y,
                                         const std::type_identity_t<CrossValPredictOptions<Model>>& options = {}) {
  using namespace ml::detail;
  const auto folds = folds_for("cross_val_predict", x, y, options.folds, HasClasses<Model>);
  FoldResults results(x, folds);
  for (const auto& [train, test] : folds) {
    auto copy = model;
    fit_to(copy, rows_where(x, train), rows_where(y, train));
    if constexpr (HasClasses<Model>)
      if (options.predict) results.check_classes(copy.classes());
    const auto rows = rows_where(x, test);
    results.put(test, options.predict ? options.predict(copy, rows) : copy.predict(rows));
  }
  return results.all();
}

/// Returns all combinations; the last value changes first: `grid(std::vector{1, 3}, std::vector{0.1, 1.0})`.
template <class... Values>
[[nodiscard]] std::vector<std::tuple<Values...>> grid(const std::vector<Values>&... values) {
  std::vector<std::tuple<Values...>> points;
  std::int64_t count = (std::ssize(values) * ... * 1);
  for (std::int64_t i = 0; i < count; ++i) {
    auto rest = i, block = count;
    const auto next = [&](const auto& of) {
      block /= std::ssize(of);
      const auto at = rest / block;
      rest %= block;
      return of[static_cast<std::size_t>(at)];
    };
    points.push_back(std::tuple<Values...>{next(values)...});
  }
  return points;
}

/// Finds the best model that `make` makes from the points of a grid, by the mean of the scores over folds, the first
/// one for ties, and fits it to all rows. A point is the argument of `make`, or a tuple of its arguments as from
/// `grid`:
///
///     ht::GridSearch search([](std::int64_t k) { return ht::KMeans({.n_clusters = k}); }, std::vector{2, 3, 4});
///     search.fit(x, y).best_point();
///
/// Collective, as the fits are.
template <class Make, class Point>
class GridSearch {
  static auto call(const Make& make, const Point& point) {
    if constexpr (std::is_invocable_v<const Make&, const Point&>) return make(point);
    else return std::apply(make, point);
  }

 public:
  using Model = decltype(call(std::declval<const Make&>(), std::declval<const Point&>()));
  struct Result {
    Point point;
    std::vector<double> scores;  ///< one for each fold
    double mean;
  };

  /// Throws ValueError for a grid without points.
  GridSearch(Make make, std::vector<Point> points, CrossValOptions<Model> options = {})
      : make_(std::move(make)), points_(std::move(points)), options_(std::move(options)) {
    if (points_.empty()) throw ValueError("[GridSearch] got no points; expected at least one");
  }

  GridSearch& fit(const DNDarray& x, const DNDarray& y) {
    const auto folds = ml::detail::folds_for("GridSearch.fit", x, y, options_.folds, HasClasses<Model>);
    results_.clear();
    best_ = 0;
    for (const auto& point : points_) {
      auto scores = ml::detail::fold_scores(call(make_, point), x, y, folds, options_);
      double mean = 0;
      for (const auto score : scores) mean += score / static_cast<double>(scores.size());
      results_.push_back({point, std::move(scores), mean});
      if (mean > results_[best_].mean) best_ = results_.size() - 1;
    }
    model_.emplace(call(make_, results_[best_].point));
    ml::detail::fit_to(*model_, x, y);
    return *this;
  }
  // All throw NotFittedError before fit.
  [[nodiscard]] const std::vector<Result>& results() const { return found("results"), results_; }  ///< for all points
  [[nodiscard]] const Point& best_point() const { return found("best_point"), results_[best_].point; }
  [[nodiscard]] double best_score() const { return found("best_score"), results_[best_].mean; }
  [[nodiscard]] const Model& best_model() const { return found("best_model"), *model_; }
  [[nodiscard]] DNDarray predict(const Rows& x) const { return found("predict"), model_->predict(x); }

 private:
  void found(const char* what) const {
    if (!model_) throw NotFittedError(std::string("[GridSearch.") + what + "] got no data yet; expected a call of fit");
  }
  Make make_;
  std::vector<Point> points_;
  CrossValOptions<Model> options_;
  std::vector<Result> results_;
  std::size_t best_ = 0;
  std::optional<Model> model_;
};

}  // namespace heatpp

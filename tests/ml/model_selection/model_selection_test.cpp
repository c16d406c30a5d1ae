#include "../data.hpp"

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp/ops/operands/index.hpp>

namespace {

using Catch::Contains;

/// Returns the fold that tests each row; -1 unless it is exactly one and all others train with the row.
at::Tensor fold_of(const std::vector<ht::Fold>& folds) {
  const auto n = folds[0].test.shape()[0];
  auto of = at::full({n}, -1, at::kLong), times = at::zeros({n}, at::kLong);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const auto test = gathered(folds[f].test);
    CHECK(equals(folds[f].train, test.logical_not()));
    of.masked_fill_(test, static_cast<std::int64_t>(f));
    times += test;
  }
  return at::where(times == 1, of, -1);
}

/// Predicts the label whose rows have the nearest mean.
class NearestMean {
 public:
  explicit NearestMean(std::int64_t features_used = 4) : used_(features_used) {}
  NearestMean& fit(const ht::DNDarray& x, const ht::DNDarray& y) {
    const auto rows = gathered(x).slice(1, 0, used_);
    const auto labels = gathered(y);
    std::vector<at::Tensor> means;
    for (std::int64_t c = 0; c < 3; ++c)
      means.push_back(rows.index_select(0, (labels == c).nonzero().flatten()).mean(0));
    means_ = at::stack(means);
    return *this;
  }
  [[nodiscard]] ht::DNDarray predict(const ht::Rows& x) const {
    const auto rows = x.read(0, x.count()).slice(1, 0, used_);
    return ht::ml::detail::as_rows(x, at::cdist(rows, means_).argmin(1));
  }
  [[nodiscard]] double score(const ht::DNDarray& x, const ht::DNDarray& y) const {
    return ht::accuracy_score(y, predict(x));
  }
  [[nodiscard]] ht::DNDarray classes() const { return ht::arange(3); }

 private:
  std::int64_t used_;
  at::Tensor means_;
};

}  // namespace

TEST_CASE("folds are stretches, or the same rows at random on any number of ranks", "[ml][folds]") {
  const auto x = at::arange(44, at::kDouble).reshape({22, 2});
  const auto stretches =
      at::cat({at::full({5}, 0), at::full({5}, 1), at::full({4}, 2), at::full({4}, 3), at::full({4}, 4)});
  const auto shuffled = fold_of(ht::KFold({.shuffle = true, .seed = 3}).split(on_all(x)));
  CHECK(equals(at::bincount(shuffled), at::tensor({5, 5, 4, 4, 4}, at::kLong)));
  CHECK_FALSE(at::equal(shuffled, fold_of(ht::KFold({.shuffle = true, .seed = 4}).split(on_all(x)))));
  for (const auto& layout : every_layout({22, 2})) {
    const auto rows = distribute(x, layout);
    const auto folds = ht::KFold().split(rows);
    CHECK(equals(fold_of(folds), stretches.to(at::kLong)));
    CHECK(equals(fold_of(ht::KFold({.shuffle = true, .seed = 3}).split(rows)), shuffled));
    CHECK(same(rows.index({folds[1].test}), x.slice(0, 5, 10)));
  }
}

TEST_CASE("stratified folds have scikit-learn's rows", "[ml][folds]") {
  const auto y = at::tensor({4, -1, 4, 9, 9, 4, -1, -1, 4, 9, 4, 4, -1, 9, 4, 4, 9}, at::kLong);
  const auto expected = at::tensor({0, 0, 0, 0, 0, 0, 1, 2, 1, 1, 1, 1, 2, 1, 2, 2, 2}, at::kLong);
  for (const auto& layout : every_layout({17})) {
    const auto labels = distribute(y, layout);
    CHECK(equals(fold_of(ht::StratifiedKFold({.n_splits = 3}).split(labels)), expected));
    const auto shuffled = fold_of(ht::StratifiedKFold({.n_splits = 3, .shuffle = true, .seed = 8}).split(labels));
    CHECK(equals(shuffled, fold_of(ht::StratifiedKFold({.n_splits = 3, .shuffle = true, .seed = 8}).split(on_all(y)))));
    for (std::int64_t f = 0; f < 3; ++f)
      for (const auto label : {-1, 4, 9})
        CHECK((y == label).logical_and(shuffled == f).sum().item<std::int64_t>() ==
              (y == label).logical_and(expected == f).sum().item<std::int64_t>());
  }
}

TEST_CASE("rows are set apart for tests: the same on any number of ranks, in their order", "[ml][folds]") {
  const auto x = iris();
  const auto y = species();
  const auto mask = gathered(ht::train_test_masks(on_all(x), {.test_size = 0.3, .seed = 5}).test);
  const auto strata =
      gathered(ht::train_test_masks(on_all(x), {.test_size = 0.31, .seed = 5, .stratify = on_all(y)}).test);
  CHECK(mask.sum().item<std::int64_t>() == 45);
  CHECK(strata.sum().item<std::int64_t>() == 47);
  for (std::int64_t c = 0; c < 3; ++c) {
    const auto of_label = strata.slice(0, 50 * c, 50 * c + 50).sum().item<std::int64_t>();
    CHECK((of_label == 15 || of_label == 16));
  }
  const auto rows = [](const at::Tensor& a, const at::Tensor& which) {
    return a.index_select(0, which.nonzero().flatten());
  };
  for (const auto& layout : every_layout({150, 4})) {
    const auto [train, test, y_train, y_test] =
        ht::train_test_split(distribute(x, layout), even(y), {.test_size = 0.3, .seed = 5});
    CHECK(same(test, rows(x, mask)));
    CHECK(same(train, rows(x, mask.logical_not())));
    CHECK(same(y_test, rows(y, mask)));
    CHECK(same(y_train, rows(y, mask.logical_not())));
    const auto parts = ht::train_test_split(distribute(x, layout), {.test_size = 0.31, .seed = 5, .stratify = even(y)});
    CHECK(same(parts.test, rows(x, strata)));
    CHECK(same(ht::train_test_split(distribute(x, layout), {.shuffle = false}).test, x.slice(0, 112)));
  }
}

TEST_CASE("models are judged on folds, and the best of a grid is found", "[ml][search]") {
  const auto x = iris();
  // Expected values are from scikit-learn's NearestCentroid, and below from the first features only.
  const std::vector<double> expected{0.9, 0.9333333333333333, 0.8666666666666667, 0.9333333333333333,
                                     0.9666666666666667};
  for (const auto& layout : every_layout({150, 4})) {
    const auto rows = distribute(x, layout);
    const auto scores = ht::cross_val_score(NearestMean(), rows, even(species()));
    REQUIRE(scores.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(scores[i] == Approx(expected[i]));
  }
  const auto rows = even(x), y = even(species());
  CHECK(ht::cross_val_score(NearestMean(), rows, y, {.score = ht::judged_by(ht::accuracy_score)})[2] ==
        Approx(expected[2]));
  ht::GridSearch search([](std::int64_t used) { return NearestMean(used); }, std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK_THROWS_AS(search.best_point(), ht::NotFittedError);
  search.fit(rows, y);
  CHECK(search.results().size() == 4);
  CHECK(search.best_point() == 4);
  CHECK(search.best_score() == Approx(0.92));
  CHECK(ht::accuracy_score(y, search.predict(rows)) == Approx(0.92666666666666664));
  const auto points = ht::grid(std::vector{1, 2}, std::vector{0.1, 0.2, 0.3});
  CHECK(points.size() == 6);
  CHECK(points[4] == std::tuple(2, 0.2));
  const auto make = [](int k, double tol) { return ht::KMeans({.n_clusters = k, .tol = tol}); };
  ht::GridSearch clusters(make, ht::grid(std::vector{2, 3}, std::vector{1e-4}));
  CHECK(std::get<0>(clusters.fit(rows, y).best_point()) == 3);
  CHECK_THROWS_AS(ht::GridSearch(make, std::vector<std::tuple<int, double>>{}), ht::ValueError);
  // A pipeline takes targets if its last step does.
  const ht::Pipeline pipeline{ht::KMeans({.n_clusters = 3})};
  CHECK(ht::cross_val_score(pipeline, rows, y) == ht::cross_val_score(ht::KMeans({.n_clusters = 3}), rows, y));
}

TEST_CASE("folds have equal shares of labels only for classifiers, also at the end of pipelines", "[ml][search]") {
  const auto x = even(iris()), y = even(species());
  const auto stratified = ht::StratifiedKFold().split(y), stretches = ht::KFold().split(x);
  const ht::GaussianNB bayes;
  const ht::Pipeline scaled{ht::StandardScaler(), bayes};
  CHECK(ht::cross_val_score(bayes, x, y) == ht::cross_val_score(bayes, x, y, {.folds = stratified}));
  CHECK(ht::cross_val_score(scaled, x, y) == ht::cross_val_score(scaled, x, y, {.folds = stratified}));
  const ht::Ridge line;
  CHECK(ht::cross_val_score(line, x, y) == ht::cross_val_score(line, x, y, {.folds = stretches}));
  CHECK(ht::cross_val_score(line, x, y) != ht::cross_val_score(line, x, y, {.folds = stratified}));
}

TEST_CASE("a pipeline learns and works step after step", "[ml][pipeline]") {
  const auto x = wine();
  const auto init = on_all(at::stack({x[0], x[60], x[140]}));
  for (const auto& layout : every_layout({178, 13})) {
    const auto rows = distribute(x, layout);
    const auto scaled = ht::StandardScaler().fit_transform(rows);
    ht::Pipeline reduced{ht::StandardScaler(), ht::PCA({.n_components = std::int64_t{2}})};
    CHECK(close(reduced.fit_transform(rows), gathered(ht::PCA({.n_components = std::int64_t{2}}).fit_transform(scaled)),
                1e-9));
    ht::Pipeline clusters{ht::StandardScaler(), ht::KMeans({.n_clusters = 3, .seed = 1})};
    clusters.fit(rows);
    CHECK(same(clusters.predict(rows), gathered(clusters.step<1>().labels())));
    CHECK(clusters.score(rows) == Approx(-clusters.step<1>().inertia()));
    CHECK(clusters.step<1>().inertia() == Approx(1277.928488844643));
  }
  ht::Pipeline model{ht::MinMaxScaler(), NearestMean()};
  CHECK(ht::accuracy_score(even(species()), model.fit(even(iris()), even(species())).predict(even(iris()))) > 0.9);
  CHECK_THROWS_AS((ht::Pipeline(ht::StandardScaler(), ht::KMeans()).predict(even(x))), ht::NotFittedError);
  ht::Pipeline bayes{ht::StandardScaler(), ht::GaussianNB()};
  bayes.fit(even(iris()), even(species()));
  CHECK(same(bayes.classes(), at::arange(3)));
  CHECK(same(bayes.predict(even(iris())), gathered(bayes.predict_proba(even(iris()))).argmax(1)));
}

TEST_CASE("parts that cannot be are errors on all ranks", "[ml][folds]") {
  const auto x = even(iris());
  const auto y = even(species());
  CHECK_THROWS_WITH(ht::KFold({.n_splits = 1}).split(x), Contains("got 1 splits of 150 rows"));
  CHECK_THROWS_WITH(ht::KFold({.n_splits = 151}).split(x), Contains("got 151 splits"));
  CHECK_THROWS_WITH(ht::StratifiedKFold({.n_splits = 51}).split(y),
                    Contains("got labels of at most 50 rows for 51 splits"));
  CHECK_THROWS_AS(ht::StratifiedKFold().split(even(at::full({9}, 0.5, at::kDouble))), ht::TypeError);
  CHECK_THROWS_WITH(ht::train_test_split(x, {.test_size = 1.5}), Contains("number of 1.5 for tests"));
  CHECK_THROWS_WITH(ht::train_test_split(x, even(at::ones({3}))), Contains("got 150 rows and 3 targets"));
  CHECK_THROWS_AS(ht::train_test_split(x, {.shuffle = false, .stratify = y}), ht::ValueError);
}

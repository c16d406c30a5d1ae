#include "../data.hpp"

#include <heatpp/comm/log.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp/ops/operands/index.hpp>

namespace {

using Catch::Contains;

/// Returns the positions where a mask is true.
at::Tensor rows_of(const ht::DNDarray& mask) { return gathered(mask).nonzero().flatten(); }
Agreement is_stretch(const ht::DNDarray& mask, std::int64_t first, std::int64_t end) {
  return equals(rows_of(mask), at::arange(first, end, at::kLong));
}
/// Returns the fold in which each row is a test row.
at::Tensor testing_fold(const std::vector<ht::Fold>& folds) {
  auto of = at::full({folds[0].test.size()}, -1, at::kLong);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    of.masked_fill_(gathered(folds[f].test), static_cast<std::int64_t>(f));
    CHECK(equals(folds[f].train, gathered(folds[f].test).logical_not()));
  }
  return of;
}

}  // namespace

// Expected rows are from scikit-learn 1.9.1.
TEST_CASE("folds by groups have scikit-learn's rows", "[ml][folds]") {
  const auto groups = at::tensor({4, -1, 4, 9, 9, 4, -1, -1, 4, 9, 4, 4, -1, 9, 7, 7, 9}, at::kLong);
  const auto expected = at::tensor({0, 2, 0, 1, 1, 0, 2, 2, 0, 1, 0, 0, 2, 1, 2, 2, 1}, at::kLong);
  for (const auto& layout : every_layout({17})) {
    CHECK(equals(testing_fold(ht::GroupKFold({.n_splits = 3}).split(distribute(groups, layout))), expected));
    CHECK_THROWS_WITH(ht::GroupKFold({.n_splits = 5}).split(distribute(groups, layout)),
                      Contains("got 5 splits of 4 groups"));
  }
}

TEST_CASE("folds in time have scikit-learn's rows", "[ml][folds]") {
  const auto x = at::arange(44, at::kDouble).reshape({22, 2});
  for (const auto& layout : every_layout({22, 2})) {
    const auto rows = distribute(x, layout);
    const auto plain = ht::TimeSeriesSplit({.n_splits = 3}).split(rows);
    REQUIRE(plain.size() == 3);
    for (std::int64_t f = 0; f < 3; ++f) {
      CHECK(is_stretch(plain[static_cast<std::size_t>(f)].train, 0, 7 + 5 * f));
      CHECK(is_stretch(plain[static_cast<std::size_t>(f)].test, 7 + 5 * f, 12 + 5 * f));
    }
    const auto limited =
        ht::TimeSeriesSplit({.n_splits = 3, .max_train_size = 5, .test_size = 4, .gap = 2}).split(rows);
    CHECK(is_stretch(limited[0].train, 3, 8));
    CHECK(is_stretch(limited[0].test, 10, 14));
    CHECK(is_stretch(limited[2].train, 11, 16));
    CHECK(same(rows.index({limited[2].test}), x.slice(0, 18, 22)));
  }
  CHECK_THROWS_WITH(ht::TimeSeriesSplit({.n_splits = 3, .test_size = 7, .gap = 2}).split(beside(x)),
                    Contains("got 3 splits of 22 rows, each 7 for tests, a gap of 2"));
  CHECK_THROWS_AS(ht::TimeSeriesSplit({.n_splits = 22}).split(beside(x)), ht::ValueError);
}

TEST_CASE("rare labels are in as many folds as they have rows, with a warning", "[ml][folds]") {
  const auto y = at::tensor({4, -1, 4, 9, 9, 4, -1, -1, 4, 9, 4, 4, -1, 9, 4, 4, 9, 9, 30, 30}, at::kLong);
  const auto expected = at::tensor({0, 0, 0, 0, 0, 1, 1, 2, 1, 1, 2, 2, 3, 1, 3, 3, 2, 3, 2, 3}, at::kLong);
  std::string said;
  ht::set_log([&](ht::LogLevel, std::string_view text) { said = text; }, {.level = ht::LogLevel::warning});
  for (const auto& layout : every_layout({20}))
    CHECK(equals(testing_fold(ht::StratifiedKFold({.n_splits = 4}).split(distribute(y, layout))), expected));
  ht::set_log({});
  if (ht::world().rank() == 0) CHECK(said.find("got a label with 2 rows for 4 splits") != std::string::npos);
  CHECK_THROWS_WITH(ht::StratifiedKFold({.n_splits = 9}).split(beside(y)),
                    Contains("got labels of at most 8 rows for 9 splits"));
}

TEST_CASE("sizes of parts are shares or numbers of rows, for tests, training, or both", "[ml][folds]") {
  const auto x = iris(), y = species();
  struct Sizes {
    std::optional<ht::RowCount> test, train;
    std::int64_t tests, trains;
  };
  const std::vector<Sizes> all{{30, {}, 30, 120},    {{}, 30, 120, 30},  {0.301, {}, 46, 104},
                               {{}, 0.301, 105, 45}, {20, 100, 20, 100}, {0.1, 0.2, 15, 30}};
  for (const auto& layout : every_layout({150, 4}))
    for (const auto& [test, train, tests, trains] : all)
      for (const bool stratified : {false, true}) {
        const auto rows = distribute(x, layout);
        ht::SplitOptions options{.test_size = test, .train_size = train, .seed = 3};
        if (stratified) options.stratify = beside(y);
        const auto found = ht::train_test_masks(rows, options);
        const auto of_test = gathered(found.test), of_train = gathered(found.train);
        CHECK(of_test.sum().item<std::int64_t>() == tests);
        CHECK(of_train.sum().item<std::int64_t>() == trains);
        CHECK(for_all(of_test, of_test.logical_and(of_train).logical_not()));
        if (!stratified) continue;
        for (std::int64_t c = 0; c < 3; ++c) {
          const auto own = of_train.slice(0, 50 * c, 50 * c + 50).sum().item<std::int64_t>();
          CHECK(std::abs(3 * own - trains) < 3);
        }
      }
  const auto ends = ht::train_test_masks(beside(x), {.test_size = 20, .train_size = 100, .shuffle = false});
  CHECK(is_stretch(ends.train, 0, 100));
  CHECK(is_stretch(ends.test, 100, 120));
  CHECK_THROWS_WITH(ht::train_test_masks(beside(x), {.test_size = 150}),
                    Contains("number of 150 for tests and of none"));
  CHECK_THROWS_WITH(ht::train_test_masks(beside(x), {.test_size = 100, .train_size = 51}),
                    Contains("of 51 for training"));
  CHECK_THROWS_AS(ht::train_test_masks(beside(x), {.train_size = 1.5}), ht::ValueError);
  CHECK_THROWS_AS(ht::train_test_masks(beside(x), {.test_size = -1}), ht::ValueError);
}

TEST_CASE("each row is predicted by a model that has not seen it", "[ml][search]") {
  const auto wrong = at::tensor({52, 70, 77, 106, 119, 133, 134}, at::kLong);  // scikit-learn's
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    const auto found = ht::cross_val_predict(ht::GaussianNB(), x, beside(species()));
    CHECK(equals((gathered(found) != species()).nonzero().flatten(), wrong));
    CHECK(found.split() == (layout.split() == std::optional(0) ? std::optional(0) : std::nullopt));
    const auto shares = ht::cross_val_predict(
        ht::GaussianNB(), x, beside(species()),
        {.predict = [](const ht::GaussianNB& model, const ht::DNDarray& rows) { return model.predict_proba(rows); }});
    CHECK(equals(gathered(shares).argmax(1), gathered(found)));
    CHECK(gathered(shares)[60][2].item<double>() == Approx(8.781316873709372e-08));
  }
  const auto x = beside(iris()), y = beside(species());
  CHECK_THROWS_WITH(ht::cross_val_predict(ht::GaussianNB(), x, y, {.folds = ht::TimeSeriesSplit().split(x)}),
                    Contains("got 25 rows of 150 that are for tests in no fold"));
  CHECK_THROWS_WITH(
      ht::cross_val_predict(
          ht::GaussianNB(), x, y,
          {.folds = ht::KFold({.n_splits = 3}).split(x),
           .predict = [](const ht::GaussianNB& model, const ht::DNDarray& rows) { return model.predict_proba(rows); }}),
      Contains("have 2 labels, which differ from those of an earlier fold"));
}

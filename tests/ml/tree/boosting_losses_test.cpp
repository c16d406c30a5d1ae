#include "../data.hpp"

#include <heatpp/ml/tree/detail/group_quantiles.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>

// Piecewise linear losses, monotonic features, and categories. Expected values are from scikit-learn 1.9.1.
namespace {

using Catch::Contains;
using Loss = ht::BoostingLoss;
using ht::HistGradientBoostingClassifier;
using ht::HistGradientBoostingRegressor;

Agreement near(const ht::DNDarray& x, std::initializer_list<std::int64_t> rows, std::initializer_list<double> expected,
               double tolerance = 1e-6) {
  const auto found = gathered(x).index_select(0, at::tensor(std::vector<std::int64_t>(rows), at::kLong));
  return near_to(found.to(at::kDouble), numbers(expected), tolerance, tolerance);
}

/// 2000 rows of a category, sometimes missing, and a number; and the position of the category, which targets depend on.
struct Named {
  at::Tensor name = at::arange(2000, at::kLong).mul(7919).remainder(23);
  at::Tensor number = at::arange(2000, at::kLong).mul(104729).remainder(1000).to(at::kDouble) / 1000;
  at::Tensor place = name.mul(5).remainder(23);
  [[nodiscard]] at::Tensor rows() const {
    auto names = name.to(at::kDouble) * 3 - 5;
    names.slice(0, 0, 2000, 17).fill_(NAN);
    return at::stack({names, number}, 1);
  }
  [[nodiscard]] at::Tensor targets() const {
    return at::where(place < 7, 1.0, at::where(place < 15, -1.0, 0.0)) + number;
  }
};

ht::DNDarray whole(const at::Tensor& x) {
  return distribute(x, ht::Layout({x.sizes().begin(), x.sizes().end()}, std::nullopt, ht::world().size()));
}

}  // namespace

// In these trees no two splits have equal gains and none has no gain: scikit-learn decides such cases by how sums are
// rounded, and gives other predictions if the order of features changes.
TEST_CASE("boosting of absolute errors and quantiles is scikit-learn's for every layout", "[ml][boosting][losses]") {
  const auto y = beside(diabetes_target()), w = beside(weights(442));
  for (const auto& layout : every_layout({442, 2})) {
    const auto x = distribute(diabetes().slice(1, 2, 4).contiguous(), layout);
    const auto fitted = [&](const ht::HistGradientBoostingOptions& options, const ht::FitOptions& of = {}) {
      return HistGradientBoostingRegressor(options).fit(x, y, of).predict(x);
    };
    CHECK(near(fitted({.loss = Loss::absolute_error, .max_iterations = 20, .max_leaf_nodes = 6}), {0, 100, 250, 441},
               {194.750216283599, 144.89496926597087, 238.73273891250088, 87.12090043971551}));
    CHECK(near(fitted({.loss = Loss::absolute_error, .max_iterations = 30}, {.sample_weight = w}), {0, 100, 250, 441},
               {193.81792594630923, 192.96495831416772, 251.60979973863576, 77.57233118341357}));
    CHECK(near(fitted({.loss = Loss::quantile, .quantile = 0.2, .max_iterations = 20, .max_leaf_nodes = 6}),
               {0, 100, 250, 441}, {124.45131764196208, 112.72295279780612, 166.86752876771573, 58.626638525321596}));
    CHECK(near(fitted({.loss = Loss::quantile, .quantile = 0.9, .max_iterations = 20, .max_leaf_nodes = 6},
                      {.sample_weight = w}),
               {0, 100, 250, 441}, {278.28819228195147, 264.4762195848126, 307.5894494182057, 188.82116526603824}));
  }
}

TEST_CASE("trees of losses with a corner have the same bits on any number of ranks", "[ml][boosting][losses]") {
  const auto generator = at::detail::createCPUGenerator(7);
  const auto x = at::randn({3000, 4}, generator, at::kFloat);
  const auto noise = at::randn({3000}, generator, at::kDouble);
  const auto y = beside(x.select(1, 0).to(at::kDouble) + noise * (1 + x.select(1, 1).abs()));
  const auto w = beside(noise.abs() + 0.1);
  for (const auto share : {0.1, 0.75}) {
    const ht::HistGradientBoostingOptions options{.loss = Loss::quantile, .quantile = share, .max_iterations = 20};
    for (const auto& given : {ht::FitOptions{}, ht::FitOptions{.sample_weight = w}}) {
      const auto expected = gathered(HistGradientBoostingRegressor(options).fit(whole(x), y, given).predict(whole(x)));
      if (!given.sample_weight) {
        const auto below = gathered(y).le(expected.to(at::kDouble)).to(at::kDouble).mean().item<double>();
        CHECK(below == Approx(share).margin(0.05));
      }
      for (const auto& layout : every_layout({3000, 4})) {
        const auto rows = distribute(x, layout);
        CHECK(same(HistGradientBoostingRegressor(options).fit(rows, y, given).predict(rows), expected));
      }
    }
  }
}

TEST_CASE("quantiles of groups over ranks are those of the joined groups", "[ml][boosting][losses]") {
  using namespace heatpp::ml::detail;
  const auto generator = at::detail::createCPUGenerator(11);
  const auto count = GENERATE(std::int64_t{1}, std::int64_t{3}, std::int64_t{300});
  const std::int64_t n = 2000;
  const auto numbers = (at::randn({n}, generator, at::kDouble) * 10).round() / 10;
  const auto weight = at::randint(1, 5, {n}, generator, at::kLong).to(at::kDouble);
  const auto group = at::randint(0, count, {n}, generator, at::kLong);
  for (const auto& layout : every_layout({n, 1})) {
    const ht::Rows rows(distribute(numbers.unsqueeze(1), layout));
    const auto mine = [&](const at::Tensor& all) {
      return all.slice(0, rows.first(), rows.first() + rows.count()).contiguous();
    };
    const auto x = mine(numbers), w = mine(weight), g = mine(group);
    const auto in_groups = [&](Groups groups) {
      for (std::int64_t k = 0; k < count; ++k, groups.end())
        for (std::int64_t i = 0; i < rows.count(); ++i)
          if (g.const_data_ptr<std::int64_t>()[i] == k)
            groups.add(x.const_data_ptr<double>()[i], w.const_data_ptr<double>()[i]);
      return groups;
    };
    for (const auto share : {0.03, 0.5, 0.9}) {
      const auto even = group_quantiles(rows, in_groups(Groups()), share);
      const auto weighted = group_quantiles(rows, in_groups(Groups(weight.sum().item<double>())), share);
      for (std::int64_t k = 0; k < count; ++k) {
        const auto own = numbers.masked_select(group == k), times = weight.masked_select(group == k).to(at::kLong);
        if (own.numel() == 0) {
          CHECK(even[static_cast<std::size_t>(k)] == 0);
          continue;
        }
        CHECK(even[static_cast<std::size_t>(k)] == Approx(at::quantile(own, share).item<double>()).margin(1e-12));
        const auto repeated = std::get<0>(own.repeat_interleave(times).sort());
        const auto place = std::max(0.0, std::ceil(share * static_cast<double>(repeated.numel())) - 1);
        CHECK(weighted[static_cast<std::size_t>(k)] == repeated[static_cast<std::int64_t>(place)].item<double>());
      }
    }
  }
}

TEST_CASE("leaves of rows without a weight count for no median", "[ml][boosting][losses]") {
  const auto place = at::arange(400, at::kDouble), weighs = place.remainder(2), side = place.lt(240).to(at::kDouble);
  const auto y = beside(at::where(weighs > 0, 10 * side, 1000.0)), w = beside(weighs);
  for (const auto& layout : every_layout({400, 1})) {
    HistGradientBoostingRegressor model({.loss = Loss::absolute_error, .learning_rate = 1, .max_iterations = 2});
    model.fit(distribute(place.unsqueeze(1), layout), y, {.sample_weight = w});
    CHECK(same(model.predict(distribute(place.unsqueeze(1), layout)), 10 * side));
  }
}

TEST_CASE("predictions rise and fall with features as monotonic_cst says, by scikit-learn's bounds",
          "[ml][boosting][monotonic]") {
  const std::vector<std::int64_t> directions{0, 0, 1, 1, 0, 0, -1, 0, 1, 0};
  const auto y = beside(diabetes_target()), two = beside((diabetes_target() > 140).to(at::kLong));
  // In the trees of these features no two splits have equal gains, so that scikit-learn's do not depend on rounding.
  const auto four = diabetes().index_select(1, at::tensor({2, 3, 6, 8}));
  for (const auto& layout : every_layout({442, 4})) {
    const auto x = distribute(four, layout);
    const ht::HistGradientBoostingOptions options{
        .max_iterations = 20, .max_leaf_nodes = 6, .monotonic_cst = {1, 0, -1, 0}};
    CHECK(near(HistGradientBoostingRegressor(options).fit(x, y).predict(x), {0, 100, 250, 441},
               {199.1547495116363, 175.84565108163852, 240.86197033111716, 98.71520943928897}));
    CHECK(near(HistGradientBoostingClassifier(options).fit(x, two).decision_function(x), {0, 100, 250, 441},
               {1.7453888710449972, 0.5172597475162478, 2.376939523936534, -1.5787675214168153}, 1e-5));
  }
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    HistGradientBoostingRegressor model({.max_iterations = 40, .min_samples_leaf = 10, .monotonic_cst = directions});
    model.fit(x, y);
    HistGradientBoostingRegressor corner({.loss = Loss::absolute_error,
                                          .learning_rate = 0.5,
                                          .max_iterations = 20,
                                          .min_samples_leaf = 3,
                                          .monotonic_cst = directions});
    corner.fit(x, y);
    for (const auto* each : {&model, &corner})
      for (std::int64_t j = 0; j < 10; ++j) {
        const auto direction = static_cast<double>(directions[static_cast<std::size_t>(j)]);
        auto along = diabetes().slice(0, 0, 442, 9).repeat_interleave(40, 0);
        along.select(1, j).copy_(at::linspace(-0.15, 0.2, 40, at::kDouble).repeat({50}));
        const auto steps = gathered(each->predict(whole(along))).reshape({50, 40}).diff();
        if (direction != 0) CHECK(for_all(steps, (steps * direction).ge(0)));
      }
  }
}

TEST_CASE("categories are divided in sets, by scikit-learn's rules, for every layout", "[ml][boosting][categories]") {
  const Named data;
  const auto y = beside(data.targets()), few = beside((data.place < 9).to(at::kLong)),
             three = beside(data.place.remainder(3));
  const auto asked = whole(numbers({1000, 0.5, NAN, 0.5, -4, 0.5}).reshape({3, 2}));
  for (const auto& layout : every_layout({2000, 2})) {
    const auto x = distribute(data.rows(), layout);
    HistGradientBoostingRegressor model({.max_iterations = 10, .max_leaf_nodes = 6, .categorical_features = {0}});
    model.fit(x, y);
    CHECK(near(model.predict(x), {0, 1, 2, 3, 4, 1999},
               {0.2885860559079773, 0.009412088573566506, 1.098375969030983, -0.3553657519761552, 1.3241400864690047,
                0.3172631546934421}));
    CHECK(near(model.predict(asked), {0, 1, 2}, {0.4874325399238625, 0.4874325399238625, 0.4874325399238625}));
    HistGradientBoostingRegressor masked(
        {.max_iterations = 10, .max_leaf_nodes = 6, .categorical_features = {true, false}});
    CHECK(same(masked.fit(x, y).predict(x), gathered(model.predict(x))));
    HistGradientBoostingClassifier classes({.max_iterations = 5, .max_leaf_nodes = 4, .categorical_features = {0}});
    CHECK(near(classes.fit(x, few).decision_function(x), {0, 1, 2, 3},
               {-0.059794425641629644, -1.1821885969054613, 0.5770473003435055, -1.1821885969054613}));
    CHECK(near(whole(gathered(classes.fit(x, three).decision_function(x)).flatten()), {0, 1, 2, 3, 4, 5},
               {0.13432120421029825, 0.13089294684236633, -0.2923312355454014, 1.0462637551255298, -0.6276004164407222,
                -0.7353687194003029},
               1e-5));
    // Numbers count as float32, and validation rows are treated in the same way.
    HistGradientBoostingRegressor early({.max_iterations = 10, .categorical_features = {0}, .early_stopping = true});
    CHECK(early.fit(distribute(data.rows().to(at::kFloat), layout), y).score(x, y) > 0.7);
  }
}

TEST_CASE("a division of names needs no order of them", "[ml][boosting][categories]") {
  const auto names = at::arange(4000, at::kLong).mul(7).remainder(200);
  const auto y = names.mul(77).remainder(200).lt(100).to(at::kDouble);  // half of the categories, mixed
  const auto x = whole(names.to(at::kDouble).unsqueeze(1));
  HistGradientBoostingRegressor sets(
      {.learning_rate = 1, .max_iterations = 1, .max_leaf_nodes = 2, .categorical_features = {0}}),
      ordered({.learning_rate = 1, .max_iterations = 1, .max_leaf_nodes = 2});
  CHECK(sets.fit(x, whole(y)).score(x, whole(y)) == Approx(1));
  CHECK(ordered.fit(x, whole(y)).score(x, whole(y)) < 0.1);
}

TEST_CASE("options of boosting that do not fit are errors on all ranks", "[ml][boosting]") {
  const auto x = beside(iris()), y = beside(petals()), kinds = beside(species());
  const auto text = [&](const ht::HistGradientBoostingOptions& options) {
    return message_of<ht::ValueError>([&] { HistGradientBoostingRegressor(options).fit(x, y); });
  };
  CHECK_THAT(text({.loss = Loss::quantile}), Contains("got no quantile for the quantile loss"));
  CHECK_THAT(text({.loss = Loss::quantile, .quantile = 1}), Contains("got quantile 1"));
  CHECK_THAT(text({.monotonic_cst = {1, 0}}), Contains("got 2 directions in monotonic_cst for 4 features"));
  CHECK_THAT(text({.monotonic_cst = {1, 0, 2, 0}}), Contains("got 2 in monotonic_cst"));
  CHECK_THAT(text({.categorical_features = {4}}), Contains("got feature 4 in categorical_features"));
  CHECK_THAT(text({.categorical_features = {1, 1}}), Contains("got feature 1 in categorical_features"));
  CHECK_THAT(text({.categorical_features = {-1}}), Contains("got feature -1 in categorical_features"));
  for (const auto& mask : {std::vector<bool>{true}, {false, true, false, true, false}, {false, false}})
    CHECK_THAT(text({.categorical_features = mask}),
               Contains("got " + std::to_string(mask.size()) + " truth values in categorical_features for 4 features"));
  CHECK_THAT(text({.monotonic_cst = {0, 1, 0, 0}, .categorical_features = {false, true, false, false}}),
             Contains("a direction of feature 1"));
  CHECK_THAT(text({.monotonic_cst = {0, 1, 0, 0}, .categorical_features = {1}}), Contains("a direction of feature 1"));
  CHECK_THROWS_WITH(HistGradientBoostingClassifier({.monotonic_cst = {1, 0, 0, 0}}).fit(x, kinds),
                    Contains("got monotonic_cst for 3 classes"));
  const auto many = beside(at::arange(300, at::kDouble).unsqueeze(1)), of_many = beside(at::arange(300, at::kDouble));
  CHECK_THROWS_WITH(HistGradientBoostingRegressor({.categorical_features = {0}}).fit(many, of_many),
                    Contains("got more than 255 categories in feature 0"));
  HistGradientBoostingRegressor model({.max_iterations = 5, .categorical_features = {1}, .warm_start = true});
  model.fit(x, y);
  CHECK_THROWS_WITH(model.fit(beside(iris() + 1), y), Contains("got other categories than before"));
}

#include "../data.hpp"

#include <heatpp/ml/neighbors/kneighbors.hpp>

namespace {

using Catch::Contains;

/// Returns the k nearest of x for each row of y: equal distances by the lowest row.
std::pair<at::Tensor, at::Tensor> nearest(const at::Tensor& distances, std::int64_t k) {
  const auto [sorted, order] = at::sort(distances, /*stable=*/true, 1, /*descending=*/false);
  return {sorted.slice(1, 0, k), order.slice(1, 0, k)};
}

at::Tensor whole_rows(std::int64_t n, std::int64_t features, std::int64_t values) {
  return (at::arange(n * features, at::kLong) * 7919 + 13).remainder(1009).remainder(values).reshape({n, features});
}

at::Tensor cosine(const at::Tensor& y, const at::Tensor& x) {
  const auto unit = [](const at::Tensor& rows) {
    const auto length = rows.norm(2, {1}, true);
    return rows / at::where(length == 0, 1.0, length);
  };
  return 1 - at::mm(unit(y), unit(x).t());
}

ht::DNDarray cut(const at::Tensor& x, std::optional<int> split = 0) {
  return distribute(x, ht::Layout(ht::Shape(x.sizes().begin(), x.sizes().end()), split, ht::world().size()));
}

/// Returns rows whose number is divisible by 5, or the others.
at::Tensor fifth(const at::Tensor& x, bool others) {
  const auto test = at::arange(x.size(0)).remainder(5).eq(0);
  return x.index({others ? test.logical_not() : test});
}

double accuracy(const at::Tensor& x, const at::Tensor& y, std::int64_t k) {
  ht::KNeighborsClassifier model({.n_neighbors = k});
  model.fit(cut(fifth(x, true)), cut(fifth(y, true)));
  return gathered(model.predict(cut(fifth(x, false)))).eq(fifth(y, false)).to(at::kDouble).mean().item<double>();
}

}  // namespace

TEST_CASE("the nearest rows are those of a plain search, ties by the lowest row, for every layout", "[ml][neighbors]") {
  const auto x = whole_rows(23, 3, 5), y = whole_rows(9, 3, 6);  // many equal distances
  const auto wide = x.to(at::kDouble), asking = y.to(at::kDouble);
  const std::pair<ht::Metric, at::Tensor> metrics[] = {{ht::Metric::euclidean, at::cdist(asking, wide, 2, 2)},
                                                       {ht::Metric::manhattan, at::cdist(asking, wide, 1)}};
  for (const auto& [metric, all] : metrics)
    for (const auto type : {at::kLong, at::kFloat, at::kDouble})
      for (const auto& a : every_layout({23, 3}))
        for (const auto& b : every_layout({9, 3})) {
          ht::NearestNeighbors model({.n_neighbors = 6, .metric = metric});
          model.fit(distribute(x.to(type), a));
          const auto [distances, indices] = model.kneighbors(distribute(y.to(type), b));
          const auto expected = nearest(all, 6);
          CHECK(same(indices, expected.second));
          CHECK(close(distances, expected.first.to(type == at::kFloat ? at::kFloat : at::kDouble), 1e-6));
          CHECK(indices.split() == (b.split() ? std::optional(0) : std::nullopt));
        }
}

TEST_CASE("rows among themselves leave themselves out", "[ml][neighbors]") {
  const auto x = iris();
  auto all = at::cdist(x, x, 2, 2);
  all.fill_diagonal_(INFINITY);
  for (const auto& layout : every_layout({150, 4})) {
    const auto [distances, indices] = ht::NearestNeighbors().fit(distribute(x, layout)).kneighbors();
    CHECK(close(distances, nearest(all, 5).first, 1e-14));
    CHECK(for_all(gathered(indices), gathered(indices).ne(at::arange(150).unsqueeze(1))));
  }
}

TEST_CASE("cosine distances, and rows of zeros at distance 1", "[ml][neighbors]") {
  auto x = whole_rows(40, 4, 9).to(at::kDouble), y = whole_rows(11, 4, 7).to(at::kDouble) + 0.5;
  x[3].zero_();
  y[2].zero_();
  const auto expected = nearest(cosine(y, x), 4);
  for (const auto& layout : every_layout({40, 4})) {
    ht::NearestNeighbors model({.n_neighbors = 4, .metric = ht::Metric::cosine});
    model.fit(distribute(x, layout));
    CHECK(close(model.kneighbors(cut(y)).distances, expected.first, 1e-14));
    CHECK((gathered(model.kneighbors(cut(y)).distances)[2] - 1).abs().max().item<double>() < 1e-15);
  }
}

TEST_CASE("many rows of many features, and float32 rows far from 0", "[ml][neighbors]") {
  const auto features = GENERATE(1, 5, 33, 200);
  const auto base = (at::arange(3000 * features, at::kDouble) * 0.6180339887).frac().reshape({3000, features});
  for (const auto& x : {base.to(at::kFloat), (base * 100 + 1e4).to(at::kFloat), base}) {
    const auto exact = at::cdist(x.slice(0, 0, 300).to(at::kDouble), x.to(at::kDouble), 2, 2);
    ht::NearestNeighbors model({.n_neighbors = 7});
    const auto [distances, indices] = model.fit(cut(x)).kneighbors(cut(x.slice(0, 0, 300)));
    const auto expected = std::get<0>(at::sort(exact, 1)).slice(1, 0, 7);
    CHECK((gathered(distances) - expected).abs().max().item<double>() <= 1e-6 * expected.max().item<double>());
    CHECK((exact.gather(1, gathered(indices)) - expected).abs().max().item<double>() <= 1e-12);
  }
}

TEST_CASE("rows near the ends of float32 have their neighbors, of few features and of many", "[ml][neighbors]") {
  for (const std::int64_t features : {5, 300})
    for (const double scale : {1e-30, 1e-22, 1.0, 1e18, 1e19, 1e30}) {
      const auto numbers =
          (at::arange(97 * features, at::kDouble).square() * 0.6180339887).frac().reshape({97, features});
      const auto rows = (numbers * scale).to(at::kFloat), asking = rows.slice(0, 0, 40) * 1.001;
      const auto apart = at::cdist(asking.to(at::kDouble), rows.to(at::kDouble), 2, 2);
      const auto [nearest, indices] = apart.topk(3, 1, /*largest=*/false);
      const auto cut = [](const at::Tensor& x) {
        return distribute(x, ht::Layout({x.size(0), x.size(1)}, 0, ht::world().size()));
      };
      const auto found = ht::NearestNeighbors({.n_neighbors = 3}).fit(cut(rows)).kneighbors(cut(asking));
      CHECK(same(found.indices, indices));
      CHECK(near_to(gathered(found.distances).to(at::kDouble) / scale, nearest / scale, 1e-6, 0));
    }
}

TEST_CASE("rows within a radius, nearest first", "[ml][neighbors]") {
  const auto x = whole_rows(31, 2, 9).to(at::kDouble), y = whole_rows(8, 2, 11).to(at::kDouble);
  const auto all = at::cdist(y, x, 2, 2);
  const auto [sorted, order] = at::sort(all, true, 1, false);
  const auto within = sorted <= 2;
  for (const auto& a : every_layout({31, 2}))
    for (const auto& b : every_layout({8, 2})) {
      ht::NearestNeighbors model({.radius = 2});
      const auto found = model.fit(distribute(x, a)).radius_neighbors(distribute(y, b));
      CHECK(same(found.counts, within.sum(1)));
      CHECK(same(found.indices, order.masked_select(within)));
      CHECK(close(found.distances, sorted.masked_select(within), 1e-14));
    }
  ht::NearestNeighbors none({.radius = 0.5});
  CHECK(none.fit(cut(x + 100)).radius_neighbors(cut(y)).indices.size() == 0);
}

// Expected values are from scikit-learn 1.9.1.
TEST_CASE("accuracies of iris and wine are scikit-learn's", "[ml][neighbors]") {
  CHECK(accuracy(iris(), species(), 1) == Approx(29.0 / 30));
  CHECK(accuracy(iris(), species(), 5) == Approx(29.0 / 30));
  const auto kinds = at::cat({at::zeros({59}, at::kLong), at::ones({71}, at::kLong), at::full({48}, 2, at::kLong)});
  CHECK(accuracy(wine(), kinds, 1) == Approx(28.0 / 36));
  CHECK(accuracy(wine(), kinds, 5) == Approx(23.0 / 36));
}

TEST_CASE("any whole numbers are labels, and shares and weights count neighbors", "[ml][neighbors]") {
  const auto x = at::tensor({0.0, 1.0, 2.0, 10.0, 11.0, 12.0}, at::kDouble).reshape({6, 1});
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  const auto y = at::tensor(std::vector<std::int64_t>{-7, -7, big, 40, big, big}, at::kLong);
  const auto asked = at::tensor({0.0, 11.0, 6.0}, at::kDouble).reshape({3, 1});
  for (const auto& a : every_layout({6, 1}))
    for (const auto& b : every_layout({6}))
      for (const auto& rows : {cut(asked), cut(asked, std::nullopt)}) {
        ht::KNeighborsClassifier model({.n_neighbors = 3});
        model.fit(distribute(x, a), distribute(y, b));
        CHECK(same(model.classes(), at::tensor(std::vector<std::int64_t>{-7, 40, big}, at::kLong)));
        CHECK(same(model.predict(rows), at::tensor(std::vector<std::int64_t>{-7, big, -7}, at::kLong)));
        const std::vector<double> shares{2. / 3, 0., 1. / 3, 0., 1. / 3, 2. / 3, 1. / 3, 1. / 3, 1. / 3};
        CHECK(close(model.predict_proba(rows), at::tensor(shares, at::kDouble).reshape({3, 3})));
        ht::KNeighborsClassifier weighted({.n_neighbors = 3, .weights = ht::NeighborWeights::distance});
        weighted.fit(distribute(x, a), distribute(y, b));
        CHECK(equals(gathered(weighted.predict_proba(rows)).slice(0, 0, 2),
                     at::tensor({1., 0., 0., 0., 0., 1.}, at::kDouble).reshape({2, 3})));
      }
}

TEST_CASE("votes that are equal go to the lowest label", "[ml][neighbors]") {
  const auto x = at::tensor({0.0, 2.0, 50.0}, at::kDouble).reshape({3, 1});
  ht::KNeighborsClassifier model({.n_neighbors = 2});
  model.fit(cut(x), cut(at::tensor(std::vector<std::int64_t>{9, 3, 1}, at::kLong)));
  CHECK(each_is(gathered(model.predict(cut(at::ones({4, 1}, at::kDouble)))), 3));
}

TEST_CASE("values are means of the neighbors'", "[ml][neighbors]") {
  const auto x = iris().slice(1, 0, 3), value = iris().slice(1, 3, 4);
  const auto both = at::cat({value, value * 2}, 1);
  ht::KNeighborsRegressor model, several, weighted({.weights = ht::NeighborWeights::distance});
  for (const auto& layout : every_layout({150, 3})) {
    const auto rows = distribute(x, layout);
    model.fit(rows, cut(value.flatten()));
    several.fit(rows, cut(both, std::nullopt));
    weighted.fit(rows, cut(at::arange(150)));
    const auto [distances, indices] = ht::NearestNeighbors().fit(rows).kneighbors(rows);
    const auto of = [&, &which = indices](const at::Tensor& y) { return y.index({gathered(which)}).mean(1); };
    CHECK(close(model.predict(rows), of(value.flatten())));
    CHECK(close(several.predict(rows), of(both)));
    // Rows at distance 0 from their nearest one share their values; all others have only their own.
    const auto own = gathered(distances).select(1, 1) > 0;
    CHECK(
        near_to(gathered(weighted.predict(rows)).masked_select(own), at::arange(150, at::kDouble).masked_select(own)));
  }
}

TEST_CASE("a part of the ranks searches on its own", "[ml][neighbors]") {
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const auto x = iris();
  const ht::Layout layout({150, 4}, 0, half.size());
  const auto mine = x.slice(0, layout.offset(half.rank()), layout.offset(half.rank() + 1)).contiguous();
  const auto rows = ht::from_local(mine, {.split = 0, .comm = half});
  const auto distances = ht::NearestNeighbors().fit(rows).kneighbors(rows).distances;
  CHECK(close(distances, nearest(at::cdist(x, x, 2, 2), 5).first, 1e-14));
}

TEST_CASE("bad rows and options are errors on all ranks", "[ml][neighbors]") {
  auto bad = iris();
  bad[77][1] = NAN;
  const auto good = cut(iris());
  for (const auto& layout : every_layout({150, 4})) {
    CHECK_THROWS_WITH(ht::NearestNeighbors().fit(distribute(bad, layout)), Contains("got nan in row 77, column 1"));
    CHECK_THROWS_WITH(ht::NearestNeighbors().fit(good).kneighbors(distribute(bad, layout)), Contains("row 77"));
  }
  CHECK_THROWS_AS(ht::NearestNeighbors().kneighbors(good), ht::NotFittedError);
  CHECK_THROWS_AS(ht::KNeighborsClassifier().predict(good), ht::NotFittedError);
  CHECK_THROWS_AS(ht::KNeighborsRegressor().predict(good), ht::NotFittedError);
  CHECK_THROWS_WITH(ht::NearestNeighbors({.n_neighbors = 0}).fit(good), Contains("got 0 neighbors"));
  CHECK_THROWS_WITH(ht::NearestNeighbors({.n_neighbors = 151}).fit(good).kneighbors(good),
                    Contains("got 151 neighbors of 150 rows"));
  CHECK_THROWS_WITH(ht::NearestNeighbors({.n_neighbors = 150}).fit(good).kneighbors(),
                    Contains("without the row itself"));
  CHECK_THROWS_WITH(ht::NearestNeighbors().fit(good).kneighbors(ht::ones({4, 2})), Contains("got 2 features"));
  CHECK_THROWS_WITH(ht::KNeighborsClassifier().fit(good, ht::ones({149}).astype(ht::int64)), Contains("(149,)"));
  CHECK_THROWS_AS(ht::KNeighborsClassifier().fit(good, ht::full({150}, 0.5)), ht::TypeError);
  CHECK_THROWS_WITH(ht::KNeighborsRegressor().fit(good, ht::full({150}, NAN)), Contains("not finite"));
}

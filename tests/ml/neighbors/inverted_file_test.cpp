#include "../data.hpp"

#include <heatpp/ml/neighbors/inverted_file.hpp>

namespace {

using Catch::Contains;

ht::DNDarray cut_rows(const at::Tensor& x) {
  return distribute(x, ht::Layout({x.size(0), x.size(1)}, 0, ht::world().size()));
}

at::Tensor spread(std::int64_t n, std::int64_t features) {
  const auto i = at::arange(n * features, at::kDouble);
  return ((i * 12.9898).sin().abs() * 437.585453).frac().reshape({n, features});
}

/// Returns the share of the nearest rows that are found.
double recall(const at::Tensor& found, const at::Tensor& nearest) {
  return found.unsqueeze(2).eq(nearest.unsqueeze(1)).any(2).to(at::kDouble).mean().item<double>();
}

}  // namespace

TEST_CASE("neighbors are exact if all lists are searched, for every layout", "[ml][inverted_file]") {
  const auto x = (spread(60, 3) * 5).floor(), y = (spread(13, 3) * 6).floor();  // many equal distances
  for (const auto type : {at::kLong, at::kFloat, at::kDouble})
    for (const auto& a : every_layout({60, 3}))
      for (const auto& b : every_layout({13, 3})) {
        ht::NearestNeighbors exact({.n_neighbors = 7});
        ht::InvertedFile model({.n_neighbors = 7, .n_lists = 6, .n_probe = 6});
        exact.fit(distribute(x.to(type), a));
        model.fit(distribute(x.to(type), a));
        const auto rows = distribute(y.to(type), b);
        const auto [distances, indices] = model.kneighbors(rows);
        const auto expected = exact.kneighbors(rows);
        CHECK(same(indices, gathered(expected.indices)));
        CHECK(same(distances, gathered(expected.distances)));
        CHECK(indices.split() == expected.indices.split());
      }
}

TEST_CASE("a part of the lists has most of the neighbors, the same on any number of ranks", "[ml][inverted_file]") {
  const auto x = spread(4000, 8), y = spread(4200, 8).slice(0, 4000);
  const auto nearest = std::get<1>(at::cdist(y, x, 2, 2).topk(10, 1, /*largest=*/false));
  double before = 0;
  for (const auto& [probes, least] : {std::pair(1, 0.2), {4, 0.55}, {16, 0.9}, {64, 1.0}}) {
    ht::InvertedFile model({.n_neighbors = 10, .n_lists = 64, .n_probe = probes}), one(model.options());
    model.fit(cut_rows(x));
    const auto found = gathered(model.kneighbors(cut_rows(y)).indices);
    CHECK(recall(found, nearest) >= least);
    CHECK(recall(found, nearest) >= before);
    before = recall(found, nearest);
    one.fit(distribute(x, ht::Layout({4000, 8}, std::nullopt, ht::world().size())));
    CHECK(recall(found, gathered(one.kneighbors(cut_rows(y)).indices)) > 0.999);
  }
  CHECK(ht::InvertedFile().fit(cut_rows(x)).n_lists() == 63);
}

TEST_CASE("rows far from 0 in float32, and fewer neighbors than are wanted", "[ml][inverted_file]") {
  const auto x = (iris() + 1e4).to(at::kFloat);
  ht::InvertedFile model({.n_neighbors = 4, .n_lists = 5, .n_probe = 5});
  ht::NearestNeighbors exact({.n_neighbors = 4});
  CHECK(same(model.fit(cut_rows(x)).kneighbors(cut_rows(x)).indices,
             gathered(exact.fit(cut_rows(x)).kneighbors(cut_rows(x)).indices)));
  const auto pairs = at::tensor({0., 1., 100., 101.}, at::kDouble).reshape({4, 1});
  ht::InvertedFile few({.n_neighbors = 3, .n_lists = 2, .n_probe = 1});
  const auto found = few.fit(cut_rows(pairs)).kneighbors(cut_rows(pairs));
  CHECK(same(found.indices, at::tensor({0, 1, -1, 1, 0, -1, 2, 3, -1, 3, 2, -1}, at::kLong).reshape({4, 3})));
  CHECK(each_is(gathered(found.distances).select(1, 2), INFINITY));
}

TEST_CASE("bad rows and options of lists are errors on all ranks", "[ml][inverted_file]") {
  auto bad = iris();
  bad[70][1] = NAN;
  ht::InvertedFile model({.n_lists = 4});
  CHECK_THROWS_WITH(model.fit(cut_rows(bad)), Contains("row 70"));
  CHECK_THROWS_AS(model.kneighbors(cut_rows(iris())), ht::NotFittedError);
  model.fit(cut_rows(iris()));
  CHECK_THROWS_WITH(model.kneighbors(cut_rows(bad)), Contains("row 70"));
  CHECK_THROWS_WITH(model.kneighbors(cut_rows(at::ones({3, 2}, at::kDouble))), Contains("got 2 features"));
  CHECK_THROWS_WITH(ht::InvertedFile({.n_lists = 151}).fit(cut_rows(iris())), Contains("of 151"));
  CHECK_THROWS_AS(ht::InvertedFile({.n_probe = 0}).fit(cut_rows(iris())), ht::ValueError);
}

#include "../../support.hpp"
#include "../vectors.hpp"

#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/statistics/histogram.hpp>

namespace {

at::Tensor scattered_over_bins(const ht::Shape& shape, at::ScalarType type) {
  return ((at::arange(ht::size_of(shape), at::kDouble) * 0.618).frac() * 100).floor().reshape(shape).to(type);
}

/// Returns sums of weights between edges, the last bin closed.
at::Tensor binned(const at::Tensor& x, const at::Tensor& edges, const at::Tensor& weights) {
  std::vector<double> counts;
  const auto n = edges.numel() - 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto below = i == n - 1 ? x <= edges[i + 1] : x < edges[i + 1];
    counts.push_back((weights * at::logical_and(x >= edges[i], below)).sum().item<double>());
  }
  return doubles(counts);
}

}  // namespace

TEST_CASE("histograms count every element once, for every layout", "[ops][histogram]") {
  const ht::Shape shape = GENERATE(ht::Shape{23}, ht::Shape{9, 4}, ht::Shape{6, 2, 5}, ht::Shape{1});
  const auto type = GENERATE(at::kByte, at::kInt, at::kHalf, at::kFloat, at::kDouble);
  const auto global = scattered_over_bins(shape, type), x64 = global.to(at::kDouble), ones = at::ones_like(x64);
  const auto weights = (x64 * 3).remainder(7);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    const auto [counts, edges] = ht::histogram(x);
    CHECK(ht::to_torch(edges.dtype()) == (at::isFloatingType(type) ? type : at::kDouble));
    CHECK(same(counts, binned(x64, gathered(edges).to(at::kDouble), ones).to(at::kLong)));
    CHECK(same(ht::histogram_bin_edges(x), gathered(edges)));

    const auto narrow = ht::histogram(x, {.bins = 7, .range = std::pair{10.0, 60.0}});
    CHECK(same(narrow.first, binned(x64, gathered(narrow.second).to(at::kDouble), ones).to(at::kLong)));
    CHECK(close(narrow.second, at::linspace(10, 60, 8, at::kDouble).to(gathered(edges).scalar_type()), 1e-6));

    const auto given = ht::array({0, 1, 1, 50, 52, 90}, {.dtype = ht::float64, .split = 0});
    for (const auto& other : every_layout(shape)) {
      const auto w = distribute(weights, other);
      const auto [sums, same_edges] = ht::histogram(x, {.edges = given, .weights = w});
      CHECK(same(sums, binned(x64, gathered(given), weights)));
      CHECK(same(same_edges, gathered(given)));
    }
  }
}

TEST_CASE("histograms follow NumPy's rules at the ends", "[ops][histogram]") {
  const auto x = ht::array({1.0, 2.0, 1.0, NAN, 4.0}, {.dtype = ht::float64, .split = 0});
  const auto [counts, edges] = ht::histogram(x, {.bins = 3, .range = std::pair{1.0, 4.0}});
  CHECK(same(counts, at::tensor({2, 1, 1}, at::kLong)));
  CHECK(same(edges, doubles({1, 2, 3, 4})));
  CHECK(same(ht::histogram(x, {.bins = 3, .range = std::pair{1.0, 4.0}, .density = true}).first,
             doubles({0.5, 0.25, 0.25})));
  CHECK_THROWS_WITH(ht::histogram(x), Catch::Contains("[histogram] got the range nan to nan"));

  const auto nothing = ht::zeros({0}, {.split = 0});
  CHECK(same(ht::histogram(nothing, {.bins = 2}).first, at::zeros({2}, at::kLong)));
  CHECK(same(ht::histogram(nothing, {.bins = 2}).second, at::tensor({0.0F, 0.5F, 1.0F})));
  const auto constant = ht::full({5}, 3, {.dtype = ht::float64, .split = 0});
  CHECK(same(ht::histogram(constant, {.bins = 2}).first, at::tensor({0, 5}, at::kLong)));
  CHECK(same(ht::histogram(constant, {.bins = 2}).second, doubles({2.5, 3, 3.5})));
  const auto weights = ht::array({1, 2, 3, 4, 5}, {.dtype = ht::int32});
  CHECK(same(ht::histogram(constant, {.bins = 2, .weights = weights}).first, at::tensor({0, 15}, at::kInt)));
  const auto phases = ht::array({1, 2, 3, 4, 5}, {.dtype = ht::complex64});
  CHECK(same(ht::histogram(constant, {.bins = 2, .weights = phases}).first, at::tensor({0, 15}, at::kComplexFloat)));
}

TEST_CASE("histc counts in the dtype of the array", "[ops][histogram]") {
  const auto global = scattered_over_bins({50}, at::kFloat);
  for (const auto& layout : every_layout({50})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::histc(x, {.bins = 8}), at::histc(global, 8)));
    CHECK(same(ht::histc(x, {.bins = 5, .min = 20, .max = 70}), at::histc(global, 5, 20, 70)));
  }
}

TEST_CASE("histograms of several columns", "[ops][histogram][host]") {
  const auto global = scattered_over_bins({40, 3}, at::kDouble);
  const auto [expected, edges] = at::histogramdd(global, {4, 2, 3}, std::nullopt, std::nullopt, false);
  const auto weights = scattered_over_bins({40}, at::kDouble);
  const auto weighted = std::get<0>(at::histogramdd(global, {4, 2, 3}, std::nullopt, weights, false));
  const auto dense = std::get<0>(at::histogramdd(global, {4, 2, 3}, std::nullopt, std::nullopt, true));
  for (const auto& layout : every_layout({40, 3})) {
    const auto x = distribute(global, layout);
    const auto found = ht::histogramdd(x, {.bins = {4, 2, 3}});
    CHECK(same(found.counts, expected));
    for (std::size_t axis = 0; axis < 3; ++axis) CHECK(close(found.edges[axis], edges[axis]));
    CHECK(same(ht::histogramdd(x, {.edges = found.edges}).counts, expected));
    CHECK(close(ht::histogramdd(x, {.bins = {4, 2, 3}, .density = true}).counts, dense));
    CHECK(same(
        ht::histogramdd(x, {.bins = {4, 2, 3}, .weights = distribute(weights, {{40}, 0, ht::world().size()})}).counts,
        weighted));
  }
  const auto a = global.select(1, 0).contiguous(), b = global.select(1, 2).contiguous();
  const auto planar = std::get<0>(at::histogramdd(at::stack({a, b}, 1), {5, 5}, std::nullopt, std::nullopt, false));
  for (const auto& first : every_layout({40}))
    for (const auto& second : every_layout({40})) {
      const auto [counts, x_edges, y_edges] =
          ht::histogram2d(distribute(a, first), distribute(b, second), {.bins = {5}});
      CHECK(same(counts, planar));
      CHECK((x_edges.size() == 6 && y_edges.size() == 6));
      const auto of_both = ht::histogram2d(distribute(a, first), distribute(b, second), {.edges = {x_edges}});
      CHECK(same(
          of_both.counts,
          ht::histogram2d(distribute(a, first), distribute(b, second), {.edges = {x_edges, x_edges}}).counts.larray()));
    }
}

TEST_CASE("bincount counts and adds up weights", "[ops][histogram]") {
  const auto global = scattered_over_bins({61}, at::kInt).remainder(13).to(at::kInt),
             weights = scattered_over_bins({61}, at::kDouble);
  for (const auto& layout : every_layout({61})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::bincount(x), at::bincount(global)));
    CHECK(same(ht::bincount(x, {.minlength = 20}), at::bincount(global, {}, 20)));
    for (const auto& other : every_layout({61}))
      CHECK(same(ht::bincount(x, {.weights = distribute(weights, other)}), at::bincount(global, weights)));
  }
  CHECK(same(ht::bincount(ht::zeros({0}, {.dtype = ht::int64, .split = 0})), at::zeros({0}, at::kLong)));
  const auto nothing = ht::zeros({0}, {.dtype = ht::int64, .split = 0});
  for (const auto& unused : {ht::zeros({0}), ht::zeros({0}, {.dtype = ht::complex64}), ht::ones({3})})
    CHECK(same(ht::bincount(nothing, {.weights = unused, .minlength = 2}), at::zeros({2}, at::kLong)));
  CHECK_THROWS_AS(ht::bincount(ht::zeros({0}, {.split = 0}), {.minlength = 2}), ht::TypeError);
  for (const auto last : {std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 62})
    CHECK_THROWS_WITH(ht::bincount(ht::array({1, last}, {.split = 0})), Catch::Contains(std::to_string(last)));
  CHECK_THROWS_WITH(ht::bincount(ht::array({1, std::int64_t{1} << 50}, {.split = 0})), Catch::Contains("no memory"));
  CHECK_THROWS_WITH(ht::bincount(ht::array({3, -2, 1, 0}, {.split = 0})),
                    Catch::Contains("[bincount] got the element -2"));
  CHECK_THROWS_AS(ht::bincount(ht::ones({3})), ht::TypeError);
  CHECK_THROWS_AS(ht::bincount(ht::ones({3, 1}, {.dtype = ht::int64})), ht::ValueError);
}

TEST_CASE("tiny ranges, and rules for truth values", "[ops][histogram]") {
  const auto x = ht::array({0, 1e-310, 5e-311}, {.dtype = ht::float64, .split = 0});
  CHECK(same(ht::histogram(x, {.bins = 2}).first, at::tensor({1, 2}, at::kLong)));
  CHECK(same(ht::histogramdd(x(ht::ellipsis, ht::newaxis), {.bins = {2}}).counts, at::tensor({1., 2.}, at::kDouble)));
  const auto bits = ht::array({false, true, true, false}, {.split = 0});
  CHECK(ht::histogram(bits, {.rule = "sqrt"}).first.size() == 1);
  CHECK(ht::histogram(ht::array({1., 1., .6, 1.4}), {.range = std::pair{1., 1.}, .rule = "scott"}).first.size() == 2);
}

TEST_CASE("whole numbers beyond 2^53 are compared exactly with edges", "[ops][histogram]") {
  const auto global = at::arange(4, at::kLong) + (1LL << 53), weights = at::arange(1, 5, at::kLong);
  for (const auto& layout : every_layout({4}))
    for (const auto& other : every_layout({4})) {
      const auto x = distribute(global, layout), edges = distribute(global, other);
      CHECK(same(ht::histogram(x, {.edges = edges}).first, at::tensor({1, 1, 2}, at::kLong)));
      CHECK(same(ht::histogram(x, {.edges = edges, .weights = distribute(weights, other)}).first,
                 at::tensor({1, 2, 7}, at::kLong)));
      CHECK(same(ht::histogram(x, {.edges = edges, .density = true}).first, doubles({0.25, 0.25, 0.5})));
      CHECK(same(ht::histogramdd(ht::expand_dims(x, 1), {.edges = {edges}}).counts, doubles({1, 1, 2})));
      CHECK_THROWS_AS(ht::histogram(x, {.edges = ht::flip(edges)}), ht::ValueError);
    }
}

TEST_CASE("edges that coincide are given ones", "[ops][histogram]") {
  const auto close = doubles({1, 1 + std::numeric_limits<double>::epsilon()});
  for (const auto& layout : every_layout({2})) {
    const auto x = distribute(close, layout);
    CHECK_THROWS_WITH(ht::histogram(x), Catch::Contains("[histogram] got 10 bins from 1 to 1.0000000000000002"));
    CHECK_THROWS_AS(ht::histogram_bin_edges(x, {.bins = 2}), ht::ValueError);
    CHECK(same(ht::histogram(x, {.bins = 1}).first, at::tensor({2}, at::kLong)));
    CHECK_THROWS_AS(ht::histogram(x, {.range = std::pair{1e20, 1e20}}), ht::ValueError);
    CHECK(same(ht::histogramdd(ht::expand_dims(x, 1), {.bins = {4}}).counts, doubles({0, 0, 1, 1})));
  }
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(doubles({0.5, 1, 1.5, 2}), layout);
    const auto counts = [&](const std::vector<double>& edges, bool density = false) {
      return ht::histogram(x, {.edges = ht::from_tensor(doubles(edges), {}), .density = density}).first;
    };
    CHECK(same(counts({0, 1, 1, 2}), at::tensor({1, 0, 3}, at::kLong)));
    CHECK(same(counts({1, 1, 1}), at::tensor({0, 1}, at::kLong)));
    CHECK(same(counts({0, 1, 1, 2}, true), doubles({0.25, NAN, 0.75})));
    CHECK(same(counts({1, 1, 1}, true), doubles({NAN, INFINITY})));
  }
}

TEST_CASE("edges between 16-bit floats are computed as such", "[ops][histogram]") {
  const auto global = doubles({0, 0.7138671875, 1}).to(at::kHalf);
  const auto edges =
      doubles({0, 0.142822265625, 0.28564453125, 0.428466796875, 0.5712890625, 0.7138671875, 0.85693359375, 1});
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(global, layout);
    const auto [counts, found] = ht::histogram(x, {.bins = 7});
    CHECK(same(found, edges.to(at::kHalf)));
    CHECK(same(counts, at::tensor({1, 0, 0, 0, 0, 1, 1}, at::kLong)));
    CHECK(same(ht::histogramdd(ht::expand_dims(x, 1), {.bins = {7}}).edges.front(), edges.to(at::kHalf)));
    CHECK_THROWS_AS(ht::histogram((x * 2 - 1) * 65504, {.bins = 5}), ht::ValueError);
    CHECK_THROWS_AS(ht::histogram(x * 0 + 3000), ht::ValueError);
  }
}

TEST_CASE("one edge makes no bins", "[ops][histogram]") {
  const auto x = ht::array({1.0, 2.0, 3.0}, {.split = 0}), edge = ht::array({2.0});
  CHECK(same(ht::histogram(x, {.edges = edge}).first, at::zeros({0}, at::kLong)));
  CHECK(same(ht::histogram(x, {.edges = edge, .weights = x}).first, at::zeros({0})));
  CHECK_THROWS_AS(ht::histogram(x, {.edges = ht::zeros({0})}), ht::ValueError);
}

TEST_CASE("bad histograms are errors", "[ops][histogram]") {
  const auto x = ht::ones({4}, {.split = 0});
  CHECK_THROWS_WITH(ht::histogram(x, {.bins = 0}), Catch::Contains("got 0 bins"));
  CHECK_THROWS_WITH(ht::histogram(x, {.range = std::pair{3.0, 1.0}}), Catch::Contains("got the range 3 to 1"));
  CHECK_THROWS_AS(ht::histogram(x, {.edges = ht::array({1, 3, 2})}), ht::ValueError);
  CHECK_THROWS_AS(ht::histogram(x, {.weights = ht::ones({5})}), ht::ValueError);
  CHECK_THROWS_AS(ht::histogram(ht::ones({3}, {.dtype = ht::complex64})), ht::TypeError);
  CHECK_THROWS_AS(ht::histogramdd(ht::ones({4, 2}), {.bins = {1, 2, 3}}), ht::ValueError);
  CHECK_THROWS_AS(ht::histogram2d(x, ht::ones({5})), ht::ValueError);
}

TEST_CASE("the rules give NumPy's numbers of bins", "[ops][histogram]") {
  const auto global = at::sin(at::arange(200, at::kDouble)) + at::arange(200, at::kDouble) * 0.01;
  const std::pair<std::string_view, std::int64_t> rules[] = {{"auto", 9},  {"doane", 9}, {"fd", 9},    {"rice", 12},
                                                             {"scott", 8}, {"sqrt", 15}, {"stone", 5}, {"sturges", 9}};
  for (const auto& layout : every_layout({200})) {
    const auto x = distribute(global, layout);
    for (const auto& [rule, bins] : rules) {
      CHECK(ht::histogram(x, {.rule = rule}).first.size() == bins);
    }
    CHECK(ht::histogram_bin_edges(x, {.range = std::pair(0.0, 1.0), .rule = "auto"}).size() == 9);
    CHECK(ht::histogram(x.astype(ht::int32), {.rule = "sqrt"}).first.size() == 2);
  }
  const auto x = ht::ones({3}, {.split = 0});
  CHECK(ht::histogram(x, {.rule = "fd"}).first.size() == 1);
  CHECK_THROWS_WITH(ht::histogram(x, {.rule = "best"}), Catch::Contains("[histogram] got the rule \"best\""));
  CHECK_THROWS_AS(ht::histogram(x, {.weights = x, .rule = "auto"}), ht::ValueError);
}

TEST_CASE("bins and points are found among edges that are even, nearly even, uneven and repeated", "[ops][histogram]") {
  const auto even = at::arange(41, at::kDouble) / 4 - 5;
  const auto noise = ((at::arange(41, at::kDouble) * 0.618).frac() - 0.5) * 0.24;
  auto repeated = even.clone();
  repeated.slice(0, 7, 30).fill_(-3.25);
  const auto edges = std::vector{even, even + noise, at::exp(even), repeated}[GENERATE(0U, 1U, 2U, 3U)];
  const auto x = at::cat({at::arange(-600, 600, at::kDouble) / 100, edges, edges + 1e-9});
  const auto weights = at::ones_like(x), values = at::sin(edges);
  // This is the line through the last point at or before each element, and the next point.
  const auto i = at::searchsorted(edges, x, false, true).sub(1).clamp(0, 39);
  const auto slope = (values.index({i + 1}) - values.index({i})) / (edges.index({i + 1}) - edges.index({i}));
  const auto inside = values.index({i}) + (x - edges.index({i})) * slope;
  const auto line = at::where(x < edges[0], values[0], at::where(x >= edges[40], values[40], inside));
  for (const auto& layout : every_layout({x.numel()})) {
    const auto data = distribute(x, layout);
    CHECK(same(ht::histogram(data, {.edges = ht::from_tensor(edges)}).first.astype(ht::float64),
               binned(x, edges, weights)));
    CHECK(close(ht::interp(data, {ht::from_tensor(edges), ht::from_tensor(values)}), line));
  }
}

TEST_CASE("more bins than there is memory for are an error", "[ops][histogram]") {
  const auto x = ht::array({0.0, 0.0, 0.0, 1e-12, 1e-12, 1e-12, 1.0, 1e15}, {.dtype = ht::float64, .split = 0});
  CHECK_THROWS_WITH(ht::histogram(x, {.rule = "fd"}), Catch::Contains("[histogram] got"));
  CHECK_THROWS_WITH(ht::histogram(x, {.bins = std::int64_t{1} << 50}), Catch::Contains("no memory"));
  CHECK_THROWS_WITH(ht::histogram(x, {.bins = std::numeric_limits<std::int64_t>::max()}), Catch::Contains("bins"));
}

TEST_CASE("the sample of histogramdd may be one column", "[ops][histogram]") {
  const auto global = at::tensor({0.5, 1.5, 1.7, 3.9});
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(global, layout);
    const auto [counts, edges] = ht::histogramdd(x, {.bins = {4}, .range = {{0.0, 4.0}}});
    CHECK(same(counts, at::tensor({1., 2., 0., 1.})));
    CHECK(same(edges[0], at::arange(5, at::kDouble)));
    CHECK_THROWS_AS(ht::histogramdd(x, {.weights = x.astype(ht::complex128)}), ht::TypeError);
  }
}

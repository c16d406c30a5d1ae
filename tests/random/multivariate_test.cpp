#include "../support.hpp"
#include "cdf.hpp"

#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/random/random.hpp>

namespace rnd = ht::random;

namespace {

template <class F>
void check_layouts(F draw) {
  rnd::Generator g(11);
  const auto expected = draw(g, std::optional<int>{}).larray();
  for (int axis = 0; axis < expected.dim(); ++axis) {
    rnd::Generator h(11);
    CHECK(same(draw(h, std::optional(axis)), expected));
    CHECK(h.get_state() == g.get_state());
  }
}

}  // namespace

TEST_CASE("rows do not depend on ranks and splits", "[random][multivariate]") {
  const auto mean = ht::array({1.0, 2.0, 3.0}, {.split = 0});
  const auto covariance = ht::array({{2.0, 0.3, 0.1}, {0.3, 1.0, 0.0}, {0.1, 0.0, 0.5}}, {.split = 1});
  check_layouts([](auto& g, auto split) { return g.dirichlet({0.5, 1, 3}, {5, 2}, {.split = split}); });
  check_layouts([](auto& g, auto split) { return g.multinomial(20, {0.2, 0.3, 0.5}, {5, 2}, {.split = split}); });
  check_layouts([&](auto& g, auto split) {
    return g.multivariate_normal(mean, covariance, {5, 2}, {.dtype = ht::float64, .split = split});
  });
}

TEST_CASE("dirichlet has the right margins", "[random][multivariate]") {
  const auto x = gathered(rnd::Generator(1).dirichlet({0.5, 1, 3}, {20'000}, {.dtype = ht::float64, .split = 0}));
  CHECK(near_to(x.sum(1), at::ones({20'000}, at::kDouble)));
  const auto mean = at::tensor({0.5, 1.0, 3.0}, at::kDouble) / 4.5;
  CHECK(near_to(x.mean(0), mean, 0, 0.01));
  CHECK(near_to(x.var(0), mean * (1 - mean) / 5.5, 0, 0.005));
}

TEST_CASE("multinomial has the right margins", "[random][multivariate]") {
  const auto x = gathered(rnd::Generator(1).multinomial(50, {0.2, 0.3, 0.0, 0.5}, {20'000}, {.split = 0}));
  const auto p = at::tensor({0.2, 0.3, 0.0, 0.5}, at::kDouble);
  CHECK(equals(x.sum(1), at::full({20'000}, 50, at::kLong)));
  CHECK(near_to(x.to(at::kDouble).mean(0), 50 * p, 0, 0.1));
  CHECK(near_to(x.to(at::kDouble).var(0), 50 * p * (1 - p), 0, 0.5));
}

TEST_CASE("multivariate_normal has the mean and covariance asked for", "[random][multivariate]") {
  const auto covariance = at::tensor({2.0, 0.9, 0.9, 1.0}, at::kDouble).reshape({2, 2});
  const auto x = gathered(rnd::Generator(1).multivariate_normal(ht::array({1.0, -2.0}), ht::from_tensor(covariance),
                                                                {40'000}, {.dtype = ht::float64, .split = 0}));
  CHECK(near_to(x.mean(0), at::tensor({1.0, -2.0}, at::kDouble), 0, 0.03));
  CHECK(near_to(at::cov(x.t()), covariance, 0, 0.05));
  // This covariance has no full rank: both components are equal.
  const auto same_twice = rnd::multivariate_normal(ht::zeros({2}), ht::ones({2, 2}), {50});
  CHECK(near_to(gathered(same_twice).select(1, 0), gathered(same_twice).select(1, 1), 0, 1e-6));
}

TEST_CASE("vectors at the ends of their parameters", "[random][multivariate]") {
  rnd::Generator g(3);
  const auto all = [](const ht::DNDarray& x, const std::vector<std::int64_t>& row) {
    return same(x, at::tensor(row, at::kLong).expand({50, std::ssize(row)}));
  };
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
    const ht::ArrayOptions options{.split = split};
    CHECK(all(g.multinomial(5, {0, 0, 1}, {50}, options), {0, 0, 5}));
    CHECK(all(g.multinomial(5, {0, 1, 0}, {50}, options), {0, 5, 0}));
    CHECK(all(g.multinomial(0, {0.5, 0.5}, {50}, options), {0, 0}));
    CHECK(all(g.multinomial(5, {0, 0.25}, {50}, options), {0, 5}));
    CHECK(all(g.multinomial(5, {0, 1, 1}, {50}, options), {0, 5, 0}));
    CHECK(all(g.multivariate_hypergeometric({3, 0, 4}, 7, {50}, options), {3, 0, 4}));
    CHECK(all(g.multivariate_hypergeometric({0, 500, 0}, 30, {50}, options), {0, 30, 0}));
    CHECK(all(g.multivariate_hypergeometric({7, 2}, 0, {50}, options), {0, 0}));
    // Ten times 0.1 is less than 1, and the rest must not go to an outcome of probability 0.
    const auto tenths = g.multinomial(1LL << 52, {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 0}, {50}, options);
    CHECK(same(ht::sum(tenths, 1), at::full({50}, 1LL << 52, at::kLong)));
    CHECK(same(tenths(ht::all_of, 10), at::zeros({50}, at::kLong)));
    for (const double tiny : {1e-300, 5e-324}) {
      const auto x = gathered(g.dirichlet({tiny, tiny, 0}, {50}, options));
      CHECK(equals(x.sum(1), at::ones({50})));
      CHECK(equals(x.amax(1), at::ones({50})));
      CHECK(equals(x.select(1, 2), at::zeros({50})));
      CHECK((x.select(1, 0).sum().item<float>() > 5 && x.select(1, 1).sum().item<float>() > 5));
    }
    CHECK(same(g.dirichlet({0, 2}, {50}, options), at::tensor({0.F, 1.F}).expand({50, 2})));
  }
  CHECK(g.dirichlet({}, {3}).shape() == ht::Shape{3, 0});
  CHECK(g.multivariate_hypergeometric({}, 0, {3}).shape() == ht::Shape{3, 0});
  const auto sides = gathered(g.beta(5e-324, 5e-324, {50}));
  CHECK(equals(sides, sides.round()));
  CHECK(sides.sum().item<float>() > 5);
  CHECK(sides.sum().item<float>() < 45);
}

TEST_CASE("numbers of trials may be an array", "[random][multivariate]") {
  const auto trials = at::arange(10, at::kLong).reshape({5, 2}) * 100;
  const auto expected = gathered(rnd::Generator(5).multinomial(ht::from_tensor(trials, {}), {0.25, 0.75}));
  CHECK(equals(expected.sum(2), trials));
  for (const auto& layout : every_layout({5, 2})) {
    const auto n = distribute(trials, layout);
    const auto x = rnd::Generator(5).multinomial(n, {0.25, 0.75});
    CHECK(same(x, expected));
    CHECK(x.split() == layout.split());
    for (const int split : {0, 1, 2})
      CHECK(same(rnd::Generator(5).multinomial(n, {0.25, 0.75}, {}, {.split = split}), expected));
    CHECK_THROWS_AS(rnd::multinomial(n - 1, {0.25, 0.75}), ht::ValueError);
    CHECK_THROWS_AS(rnd::multinomial(n.astype(ht::float32), {1}), ht::TypeError);
    CHECK_THROWS_AS(rnd::multinomial(n, {1}, {2, 5}), ht::ValueError);
  }
  for (const auto& layout : every_layout({2})) {
    const auto x = rnd::multinomial(distribute(at::tensor({3, 5}, at::kLong), layout), {0.5, 0.5}, {400, 2});
    CHECK(same(ht::sum(x, 2), at::tensor({3, 5}, at::kLong).expand({400, 2})));
    CHECK(near_to(gathered(x).to(at::kDouble).mean(0), at::tensor({1.5, 1.5, 2.5, 2.5}, at::kDouble).view({2, 2}), 0,
                  0.3));
  }
}

TEST_CASE("bad parameters of vectors are errors on all ranks", "[random][multivariate]") {
  const auto real = ht::eye(2, {}, {.split = 0}), complex = real.astype(ht::complex64);
  CHECK_THROWS_AS(rnd::multivariate_normal(ht::zeros({2}), complex), ht::TypeError);
  CHECK_THROWS_AS(rnd::multivariate_normal(ht::zeros({2}, {.dtype = ht::complex64}), real), ht::TypeError);
  rnd::Generator g;
  CHECK_THROWS_AS(g.dirichlet({1, -1}), ht::ValueError);
  CHECK_THROWS_AS(g.dirichlet({1, NAN}), ht::ValueError);
  CHECK_THROWS_AS(g.multinomial(-1, {1}), ht::ValueError);
  CHECK_THROWS_AS(g.multinomial(1, {}), ht::ValueError);
  CHECK_THROWS_AS(g.multivariate_hypergeometric({1LL << 62, 1LL << 62}, 5), ht::ValueError);
  CHECK_THROWS_AS(g.multivariate_hypergeometric({3, 4}, 8), ht::ValueError);
  CHECK_THROWS_AS(g.multinomial(5, {0.5, 0.6, 0}), ht::ValueError);
  CHECK_THROWS_AS(g.multinomial(5, {0.5, 1.1}), ht::ValueError);
  CHECK_THROWS_AS(g.multivariate_normal(ht::zeros({2}), ht::ones({3, 3})), ht::ValueError);
  CHECK_THROWS_AS(g.multivariate_normal(ht::zeros({2}), ht::array({{1, 2}, {2, 1}})), ht::ValueError);
  CHECK_THROWS_AS(g.multivariate_normal(ht::zeros({2}), ht::full({2, 2}, NAN)), ht::ValueError);
}

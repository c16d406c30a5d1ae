#include "../support.hpp"
#include "cdf.hpp"

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
  CHECK(at::allclose(x.sum(1), at::ones({20'000}, at::kDouble)));
  const auto mean = at::tensor({0.5, 1.0, 3.0}, at::kDouble) / 4.5;
  CHECK(at::allclose(x.mean(0), mean, 0, 0.01));
  CHECK(at::allclose(x.var(0), mean * (1 - mean) / 5.5, 0, 0.005));
}

TEST_CASE("multinomial has the right margins", "[random][multivariate]") {
  const auto x = gathered(rnd::Generator(1).multinomial(50, {0.2, 0.3, 0.0, 0.5}, {20'000}, {.split = 0}));
  const auto p = at::tensor({0.2, 0.3, 0.0, 0.5}, at::kDouble);
  CHECK(at::equal(x.sum(1), at::full({20'000}, 50, at::kLong)));
  CHECK(at::allclose(x.to(at::kDouble).mean(0), 50 * p, 0, 0.1));
  CHECK(at::allclose(x.to(at::kDouble).var(0), 50 * p * (1 - p), 0, 0.5));
}

TEST_CASE("multivariate_normal has the mean and covariance asked for", "[random][multivariate]") {
  const auto covariance = at::tensor({2.0, 0.9, 0.9, 1.0}, at::kDouble).reshape({2, 2});
  const auto x = gathered(rnd::Generator(1).multivariate_normal(ht::array({1.0, -2.0}), ht::from_tensor(covariance),
                                                                {40'000}, {.dtype = ht::float64, .split = 0}));
  CHECK(at::allclose(x.mean(0), at::tensor({1.0, -2.0}, at::kDouble), 0, 0.03));
  CHECK(at::allclose(at::cov(x.t()), covariance, 0, 0.05));
  // A covariance without full rank: both components are the same.
  const auto same_twice = rnd::multivariate_normal(ht::zeros({2}), ht::ones({2, 2}), {50});
  CHECK(at::allclose(gathered(same_twice).select(1, 0), gathered(same_twice).select(1, 1), 0, 1e-6));
}

TEST_CASE("bad parameters of vectors are errors on all ranks", "[random][multivariate]") {
  rnd::Generator g;
  CHECK_THROWS_AS(g.dirichlet({1, 0}), ht::ValueError);
  CHECK_THROWS_AS(g.multinomial(5, {0.5, 0.4}), ht::ValueError);
  CHECK_THROWS_AS(g.multivariate_normal(ht::zeros({2}), ht::ones({3, 3})), ht::ValueError);
  CHECK_THROWS_AS(g.multivariate_normal(ht::zeros({2}), ht::array({{1, 2}, {2, 1}})), ht::ValueError);
}

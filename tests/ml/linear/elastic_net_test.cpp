#include "../data.hpp"

#include <heatpp/ml/linear/elastic_net.hpp>

namespace {

using Catch::Contains;

double objective(const ht::ElasticNet& model, const at::Tensor& x, const at::Tensor& y) {
  const auto w = gathered(model.coef());
  const auto residual = y - at::matmul(x, w) - model.intercept().item<double>();
  const auto [alpha, ratio] = std::pair(model.options().alpha, model.options().l1_ratio);
  return (residual.square().mean() / 2 + alpha * (ratio * w.abs().sum() + (1 - ratio) / 2 * w.square().sum()))
      .item<double>();
}

}  // namespace

// Expected values are from scikit-learn 1.9.1 with tol 1e-12.
TEST_CASE("lasso is scikit-learn's for every layout", "[ml][lasso]") {
  const auto y = beside(diabetes_target()), w = beside(at::arange(442, at::kDouble).remainder(5) + 1);
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    ht::Lasso strong({.alpha = 1, .tol = 1e-12}), weak({.alpha = 0.1, .tol = 1e-12});

    strong.fit(x, y);
    weak.fit(x, y);

    CHECK(close(strong.coef(), numbers({0, 0, 367.701625821548, 6.309702644195798, 0, 0, 0, 0, 307.602147462136, 0}),
                1e-9));
    CHECK(objective(strong, diabetes(), diabetes_target()) == Approx(2586.943192614252).epsilon(1e-12));
    CHECK(strong.score(x, y) == Approx(.3573805394843005).epsilon(1e-10));
    CHECK(close(weak.coef(),
                numbers({0, -155.343110624783, 517.216241202810, 275.087222928151, -52.552035811884, 0,
                         -210.139509035311, 0, 483.917174571991, 33.662192143249}),
                1e-8));
    CHECK(objective(weak, diabetes(), diabetes_target()) == Approx(1629.054542578877).epsilon(1e-12));
    CHECK(weak.dual_gap() < 1e-8);

    weak.fit(x, y, {.sample_weight = w});
    CHECK(close(weak.coef(),
                numbers({0, -124.27286642878283, 518.2326637014058, 262.49978388632303, -79.2795399803358, 0,
                         -173.08641946366586, 0, 519.166825490397, 50.58844460144781}),
                1e-8));
    CHECK(weak.intercept().item<double>() == Approx(152.27236186954215).epsilon(1e-12));
  }
}

TEST_CASE("it ends by the duality gap as scikit-learn does", "[ml][lasso]") {
  ht::Lasso model({.alpha = 0.1});
  model.fit(beside(diabetes()), beside(diabetes_target()));
  CHECK(model.iterations() == 21);
  CHECK(model.dual_gap() == Approx(.05041119097300059).epsilon(1e-8));
  CHECK(gathered(model.coef())[1].item<double>() == Approx(-155.359975697009).epsilon(1e-10));
}

TEST_CASE("coefficients without a sign, and with a square", "[ml][lasso]") {
  const auto y = beside(diabetes_target());
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    ht::Lasso positive({.alpha = 0.1, .positive = true, .tol = 1e-12});
    positive.fit(x, y);
    CHECK(close(positive.coef(),
                numbers({0, 0, 568.1975932900339, 235.13588817292845, 0, 0, 0, 48.689455451012925, 488.91650451945515,
                         14.873574427974845}),
                1e-8));
    ht::ElasticNet net({.alpha = 0.01, .l1_ratio = 0.5, .tol = 1e-12});
    net.fit(x, y);
    CHECK(net.score(x, y) == Approx(.37905348711428577).epsilon(1e-10));
    CHECK(close(
        net.coef(),
        numbers({33.149529875728874, -35.242972565618864, 211.02747456567286, 144.5597680192302, 21.930702966854422, 0,
                 -115.61921077661839, 100.65756804003416, 185.32517347775112, 96.2569866254542}),
        1e-8));
  }
}

TEST_CASE("the path is scikit-learn's, and a part of it too", "[ml][lasso]") {
  const auto y = beside(diabetes_target());
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    const auto path = ht::lasso_path(x, y, {.max_iterations = 100000, .tol = 1e-12});
    const auto alphas = gathered(path.alphas), coefs = gathered(path.coefs);
    CHECK(alphas[0].item<double>() == Approx(2.1480435755294986).epsilon(1e-12));
    CHECK(alphas[99].item<double>() == Approx(.0021480435755294987).epsilon(1e-12));
    CHECK(equals((coefs != 0).sum(0).index_select(0, at::tensor({0, 10, 50, 99}, at::kLong)),
                 at::tensor({0, 2, 7, 10}, at::kLong)));
    CHECK(coefs[2][50].item<double>() == Approx(520.3892305926048).epsilon(1e-8));

    const double largest = 2.1480435755294986 * (1 + 1e-12);  // sums of other cuts differ in the last digits
    const auto part = ht::lasso_path(
        x, y,
        {.alphas = {.01 * largest, largest, .1 * largest, std::pow(10, -.5) * largest, std::pow(10, -1.5) * largest}});
    CHECK(equals((gathered(part.coefs) != 0).sum(0), at::tensor({0, 4, 5, 7, 8}, at::kLong)));
    CHECK(near_to(part.intercepts, at::full({5}, 152.13348416289597, at::kDouble)));
  }
}

TEST_CASE("columns of other scales than 1 are not treated as if they had it", "[ml][lasso]") {
  const auto n = 600;
  const auto base = (at::arange(n * 3, at::kDouble) * 0.618034).frac().reshape({n, 3}) - 0.5;
  for (const auto scale : {0.5, 3.0, 100.0}) {
    const auto x = base * numbers({scale, 1, 1.2}), y = at::matmul(base, numbers({1, 2, -1.5}));
    ht::Lasso model({.alpha = 0.01, .tol = 1e-10});
    model.fit(beside(x), beside(y));
    // At the optimum, slopes of the loss are alpha for coefficients that are not 0.
    const auto residual = y - at::matmul(x, gathered(model.coef())) - model.intercept().item<double>();
    const auto slopes = at::matmul((x - x.mean(0)).t(), residual) / n;
    CHECK(near_to(slopes, 0.01 * gathered(model.coef()).sign(), 1e-5, 1e-7));
  }
}

TEST_CASE("fits continue from the fitted state if asked", "[ml][lasso]") {
  const auto x = beside(diabetes()), y = beside(diabetes_target());
  ht::Lasso model({.alpha = 0.1, .warm_start = true, .tol = 1e-12});
  model.fit(x, y);
  const auto cold = model.iterations();
  model.fit(x, y);
  CHECK(model.iterations() < cold / 2);
  CHECK_THROWS_WITH(model.fit(beside(iris()), ht::ones({150})),
                    Contains("to continue from coefficients of shape (1, 10)"));
}

TEST_CASE("each of several targets is fitted as if alone, and float32 rows far from 0 as near it", "[ml][lasso]") {
  const auto x = iris().slice(1, 0, 2), y = iris().slice(1, 2);
  for (const auto& layout : every_layout({150, 2})) {
    ht::ElasticNet both({.alpha = 0.05, .tol = 1e-12}), alone({.alpha = 0.05, .tol = 1e-12});
    both.fit(distribute(x, layout), beside(y));
    alone.fit(distribute(x, layout), beside(y.select(1, 1).contiguous()));
    CHECK(close(alone.coef(), gathered(both.coef())[1], 1e-12));
    const auto far = (x + 1e4).to(at::kFloat);
    ht::ElasticNet there({.alpha = 0.05, .tol = 1e-12});
    there.fit(distribute(far, layout), beside(y));
    both.fit(distribute(far.to(at::kDouble) - 1e4, layout), beside(y));
    CHECK(close(there.coef(), gathered(both.coef()).to(at::kFloat), 1e-5));
  }
}

TEST_CASE("bad input of the elastic net is an error", "[ml][lasso]") {
  const auto x = beside(iris()), y = ht::ones({150}, {.split = 0});
  CHECK_THROWS_WITH(ht::Lasso({.alpha = -1}).fit(x, y), Contains("got alpha -1"));
  CHECK_THROWS_WITH(ht::ElasticNet({.l1_ratio = 2}).fit(x, y), Contains("l1_ratio 2"));
  CHECK_THROWS_WITH(ht::lasso_path(x, y, {.l1_ratio = 0}), Contains("got l1_ratio 0"));
  CHECK_THROWS_WITH(ht::lasso_path(x, ht::ones({150, 2})), Contains("expected (150,)"));
  CHECK_THROWS_WITH(ht::Lasso().fit(x, ht::ones({3})), Contains("got targets of shape (3,)"));
  CHECK_THROWS_AS(ht::Lasso().dual_gap(), ht::NotFittedError);
}

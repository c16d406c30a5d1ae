#include "../data.hpp"

#include <heatpp/ml/linear/logistic_regression.hpp>
#include <heatpp/ml/linear/poisson_regressor.hpp>

namespace {

using Catch::Contains;

double log_loss(const ht::DNDarray& probabilities, const at::Tensor& y) {
  return -gathered(probabilities).log().gather(1, y.unsqueeze(1)).mean().item<double>();
}

}  // namespace

// Expected values are from scikit-learn 1.9.1, by newton-cholesky with tol 1e-10.
TEST_CASE("softmax regression is scikit-learn's for every layout and any labels", "[ml][logistic]") {
  const auto label = at::tensor({-7, 40, 1'000'000'007}, at::kLong).index_select(0, species());
  const auto y = beside(label), w = beside(weights(150));
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::LogisticRegression model({.max_iterations = 1000, .tol = 1e-9});

    model.fit(x, y);

    CHECK(close(model.coef(),
                numbers({-.42350992012137, .96735057957207, -2.5171523776073, -1.07933664850014, .53446150899522,
                         -.32158785519224, -.20639207129601, -.94429846539662, -.11095158887384, -.64576272437983,
                         2.72354444890332, 2.02363511389676})
                    .reshape({3, 4}),
                1e-6));
    CHECK(close(model.intercept(), numbers({9.84956805047083, 2.23720563221016, -12.086773682681}), 1e-6));
    CHECK(same(model.classes(), at::tensor({-7, 40, 1'000'000'007}, at::kLong)));
    CHECK(model.score(x, y) == Approx(.97333333333));
    CHECK(log_loss(model.predict_proba(x), species()) == Approx(.1196366779).epsilon(1e-7));
    CHECK(close(model.predict_log_proba(x), gathered(model.predict_proba(x)).log(), 1e-10));
    CHECK(close(model.decision_function(x), at::addmm(gathered(model.intercept()), iris(), gathered(model.coef()).t()),
                1e-9));
    CHECK(model.predict(x).split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(model.iterations() < 200);

    ht::LogisticRegression weighted({.c = 0.5, .max_iterations = 1000, .tol = 1e-9});
    weighted.fit(x, y, {.sample_weight = w});
    CHECK(close(weighted.intercept(), numbers({10.71458950008443, 2.78837608572169, -13.50296558580612}), 1e-6));
    CHECK(weighted.score(x, y, {.sample_weight = w}) == Approx(.98222222222));
  }
}

TEST_CASE("class weights are scikit-learn's, balanced or by label, beside those of rows", "[ml][logistic]") {
  auto label = species().clone();
  label.slice(0, 120, 150).fill_(1);
  const auto y = beside(label), w = beside(weights(150));
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::LogisticOptions options{
        .c = 0.1, .max_iterations = 1000, .tol = 1e-10, .class_weight = ht::ClassWeight::balanced};
    const auto intercept = [&] { return ht::LogisticRegression(options).fit(x, y, {.sample_weight = w}).intercept(); };
    CHECK(close(intercept(), numbers({6.321208093895884, -.9243955586753057, -5.396812535220579}), 1e-6));
    options.class_weight = std::map<std::int64_t, double>{{0, 1}, {2, 5}};
    CHECK(close(intercept(), numbers({6.74293243829409, -1.2880060876006354, -5.454926350693454}), 1e-6));
    options.class_weight = std::map<std::int64_t, double>{{0, 1}, {7, 5}};
    CHECK_THROWS_WITH(intercept(), Contains("got class weights of 2 labels, 1 of them among the 3 classes"));
    options.class_weight = std::map<std::int64_t, double>{{0, -1}};
    CHECK_THROWS_WITH(intercept(), Contains("got a class weight of -1 for label 0"));
  }
  const std::map<std::int64_t, double> given{{0, 0.1}, {2, 5}};
  ht::LogisticRegression model({.class_weight = given});
  const auto copy = ht::LogisticRegression::from_state(model.fit(beside(iris()), y).state());
  CHECK(std::get<1>(copy.options().class_weight) == given);
}

TEST_CASE("two classes are one set of coefficients, with an intercept or none", "[ml][logistic]") {
  const auto second = species() == 2;
  const auto y = beside(second), w = beside(weights(150));
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::LogisticRegression model({.max_iterations = 1000, .tol = 1e-9});
    model.fit(x, y);
    CHECK(close(model.coef(),
                numbers({-.39442692134857, -.51332970207096, 2.93086437020859, 2.41706471610757}).reshape({1, 4}),
                1e-6));
    CHECK(close(model.intercept(), numbers({-14.43126389708939}), 1e-6));
    CHECK(log_loss(model.predict_proba(x), second.to(at::kLong)) == Approx(.11086094638928344).epsilon(1e-7));
    CHECK(model.decision_function(x).shape() == ht::Shape{150});

    ht::LogisticRegression through_zero({.c = 2, .intercept = false, .max_iterations = 1000, .tol = 1e-9});
    through_zero.fit(x, y, {.sample_weight = w});
    CHECK(close(through_zero.coef(),
                numbers({-3.23325885672951, -2.98004059584169, 4.28853698971624, 4.65708153697884}).reshape({1, 4}),
                1e-6));
    CHECK(gathered(through_zero.intercept()).item<double>() == 0);
  }
}

// Expected values are by saga with tol 1e-13 for columns of mean 0.
TEST_CASE("an l1 penalty leaves the coefficients that scikit-learn's does", "[ml][logistic]") {
  const auto y = beside(species()), second = beside((species() == 2).to(at::kLong));
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::LogisticRegression lasso({.l1_ratio = 1, .max_iterations = 1000, .tol = 1e-9});
    ht::LogisticRegression net({.c = 0.5, .l1_ratio = 0.5, .max_iterations = 1000, .tol = 1e-9});

    lasso.fit(x, y);
    CHECK(
        close(lasso.coef(),
              numbers({0, 0, -3.84924760279399, 0, .74002854991713, 0, 0, 0, 0, 0, 4.17471330735842, 3.99229993902485})
                  .reshape({3, 4}),
              1e-6));
    CHECK(gathered(lasso.coef()).count_nonzero().item<std::int64_t>() == 4);
    CHECK(close(lasso.intercept(), numbers({13.40516479170727, -.65862158979265, -23.08197520655465}), 1e-5));
    net.fit(x, y);
    CHECK(close(net.coef(),
                numbers({0, .42899252195323, -2.46884702550723, -.46356471594674, .22668359421476, 0, 0,
                         -.34033487635547, 0, 0, 2.56848894264281, 1.80389959229668})
                    .reshape({3, 4}),
                1e-6));

    lasso.fit(x, second);
    CHECK(close(lasso.coef(), numbers({-.71224323617088, 0, 4.1549817624618, 4.00659135201927}).reshape({1, 4}), 1e-6));
    CHECK(close(lasso.intercept(), numbers({-22.52253477573521}), 1e-5));
    net.fit(x, second);
    CHECK(close(net.coef(), numbers({-.00788023614136, 0, 2.56201380377078, 1.95146883765187}).reshape({1, 4}), 1e-6));
  }
}

TEST_CASE("columns of very different scales are fitted in few steps", "[ml][logistic]") {
  const auto y = at::cat({at::zeros({59}, at::kInt), at::ones({71}, at::kInt), at::full({48}, 2, at::kInt)});
  for (const auto& layout : every_layout({178, 13})) {
    ht::LogisticRegression model({.max_iterations = 1000, .tol = 1e-9});
    model.fit(distribute(wine(), layout), beside(y));
    CHECK(close(model.intercept(), numbers({-15.64698441546212, 22.92328649449597, -7.27630207903385}), 1e-5));
    CHECK(log_loss(model.predict_proba(distribute(wine(), layout)), y.to(at::kLong)) ==
          Approx(.03589744744780281).epsilon(1e-6));
  }
}

TEST_CASE("float32 rows far from 0 are classified as near it", "[ml][logistic]") {
  const auto far = (iris() + 1e4).to(at::kFloat), near = far.to(at::kDouble) - 1e4;
  const auto y = beside(species());
  for (const auto& layout : every_layout({150, 4})) {
    ht::LogisticRegression there({.max_iterations = 1000, .tol = 1e-8}), here({.max_iterations = 1000, .tol = 1e-8});
    there.fit(distribute(far, layout), y);
    here.fit(distribute(near, layout), y);
    CHECK(there.coef().dtype() == ht::float32);
    CHECK(close(there.coef(), gathered(here.coef()).to(at::kFloat), 1e-4));
    CHECK(same(there.predict(distribute(far, layout)), gathered(here.predict(distribute(near, layout)))));
  }
}

TEST_CASE("logistic fits continue from the fitted state, and end if any rank asks", "[ml][logistic]") {
  const auto x = beside(iris()), y = beside(species());
  ht::LogisticRegression model({.warm_start = true, .max_iterations = 1000, .tol = 1e-7});
  const auto cold = model.fit(x, y).iterations();
  CHECK(cold > 5);
  CHECK(model.fit(x, y).iterations() <= 1);
  ht::LogisticRegression ended({.tol = 1e-9, .progress = [](const ht::FitProgress& p) {
                                  return ht::world().rank() + 1 < ht::world().size() || p.done < 3;
                                }});
  CHECK(ended.fit(x, y).iterations() == 4);
}

TEST_CASE("bad input of logistic regression is an error on all ranks", "[ml][logistic]") {
  auto bad = iris();
  bad[120][2] = NAN;
  const auto x = beside(iris()), y = beside(species());
  ht::LogisticRegression model;
  CHECK_THROWS_AS(model.predict(x), ht::NotFittedError);
  CHECK_THROWS_WITH(model.fit(x, ht::ones({150}, {.dtype = ht::int64})), Contains("got labels of 1 class"));
  CHECK_THROWS_AS(model.fit(x, ht::full({150}, 0.5)), ht::TypeError);
  CHECK_THROWS_WITH(model.fit(x, ht::ones({3}, {.dtype = ht::int64})), Contains("got labels of shape (3,)"));
  CHECK_THROWS_WITH(ht::LogisticRegression({.c = 0}).fit(x, y), Contains("got c 0"));
  CHECK_THROWS_WITH(ht::LogisticRegression({.l1_ratio = 1.5}).fit(x, y), Contains("l1_ratio 1.5"));
  model.fit(x, y);
  for (const auto& layout : every_layout({150, 4})) {
    CHECK_THROWS_WITH(ht::LogisticRegression().fit(distribute(bad, layout), y), Contains("row 120, column 2"));
    CHECK_THROWS_WITH(model.predict(distribute(bad, layout)), Contains("row 120, column 2"));
  }
  CHECK_THROWS_WITH(model.predict(ht::ones({4, 2})), Contains("got 2 features"));
}

TEST_CASE("Poisson regression is scikit-learn's for every layout", "[ml][poisson]") {
  const auto y = beside(diabetes_target()), w = beside(weights(442));
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    ht::PoissonRegressor model({.alpha = 1e-3, .max_iterations = 1000, .tol = 1e-8});
    model.fit(x, y);
    CHECK(close(model.coef(),
                numbers({.02949763533652, -1.56626853581492, 3.01418991350914, 2.07385804617588, -6.73295881331297,
                         5.39561744206266, .28593577254289, -.05686686285833, 5.96523925036871, .36660423124736}),
                1e-5));
    CHECK(model.intercept().item<double>() == Approx(4.958303494071637).epsilon(1e-8));
    CHECK(model.score(x, y) == Approx(.5123130488349096).epsilon(1e-8));
    CHECK(close(model.predict(x),
                at::exp(at::matmul(diabetes(), gathered(model.coef())) + model.intercept().item<double>()), 1e-10));
    model.fit(x, y, {.sample_weight = w});
    CHECK(model.intercept().item<double>() == Approx(4.962735259507499).epsilon(1e-8));
    CHECK(model.score(x, y, {.sample_weight = w}) == Approx(.500474520055212).epsilon(1e-8));
  }
  const auto x = beside(diabetes());
  CHECK_THROWS_WITH(ht::PoissonRegressor().fit(x, beside(diabetes_target() - 100)),
                    Contains("targets that are negative"));
  CHECK_THROWS_WITH(ht::PoissonRegressor().fit(x, beside(diabetes_target() * 0)), Contains("a mean of 0"));
  CHECK_THROWS_WITH(ht::PoissonRegressor({.alpha = -1}).fit(x, y), Contains("got alpha -1"));
  CHECK_THROWS_AS(ht::PoissonRegressor().predict(x), ht::NotFittedError);
}

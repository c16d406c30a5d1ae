#include "../data.hpp"

#include <heatpp/ml/linear/ridge.hpp>

namespace {

using Catch::Contains;

}  // namespace

// Expected values are from scikit-learn 1.9.1.
TEST_CASE("least squares are scikit-learn's for every layout", "[ml][linear]") {
  const auto y = beside(diabetes_target()), w = beside(weights(442));
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    ht::LinearRegression model;

    model.fit(x, y);

    CHECK(close(model.coef(),
                numbers({-10.009866299810, -239.815643672424, 519.845920054461, 324.384645502338, -792.175638552219,
                         476.739021005268, 101.043267938038, 177.063237671376, 751.273699557112, 67.626692183704}),
                1e-9));
    CHECK(model.intercept().item<double>() == Approx(152.13348416289597).epsilon(1e-12));
    CHECK(model.score(x, y) == Approx(.5177484222203499).epsilon(1e-12));
    const auto predicted = model.predict(x);
    CHECK(predicted.split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(close(predicted, at::matmul(diabetes(), gathered(model.coef())) + model.intercept().item<double>(), 1e-10));

    model.fit(x, y, {.sample_weight = w});
    CHECK(close(
        model.coef(),
        numbers({-24.613016724841756, -207.62746389202482, 521.0868266462112, 313.26599559554313, -958.4048697715789,
                 623.2491590679003, 160.58932151716218, 131.45597276937923, 864.6932240868782, 82.75924954300663}),
        1e-9));
    CHECK(model.intercept().item<double>() == Approx(152.40986145188447).epsilon(1e-12));
    CHECK(model.score(x, y, {.sample_weight = w}) == Approx(.5062455284273103).epsilon(1e-12));
  }
}

TEST_CASE("ridge is scikit-learn's for every layout", "[ml][linear]") {
  const auto y = beside(diabetes_target()), w = beside(weights(442));
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    ht::Ridge model({.alpha = 1});
    model.fit(x, y);
    CHECK(close(
        ht::DNDarray(model.coef()),
        numbers({29.46611189347689, -83.15427636187542, 306.35268015068607, 201.62773437326962, 5.909614367497143,
                 -29.515495079689575, -152.04028006186408, 117.31173160030154, 262.94429001431297, 111.87895643952395}),
        1e-10));
    CHECK(model.score(x, y) == Approx(.45123062774361744).epsilon(1e-12));

    ht::Ridge weighted({.alpha = 0.5});
    weighted.fit(x, y, {.sample_weight = w});
    CHECK(weighted.intercept().item<double>() == Approx(152.2957350137577).epsilon(1e-12));
    CHECK(weighted.score(x, y, {.sample_weight = w}) == Approx(.495259548380925).epsilon(1e-12));
  }
}

TEST_CASE("several targets are fitted at once, each as if alone", "[ml][linear]") {
  const auto x = iris().slice(1, 0, 2), y = iris().slice(1, 2);
  for (const auto& layout : every_layout({150, 2})) {
    ht::LinearRegression model;
    model.fit(distribute(x, layout), beside(y));
    CHECK(close(model.coef(),
                numbers({1.775592546481131, -1.338623288738989, .723291998579767, -.478721318816344}).reshape({2, 2}),
                1e-10));
    CHECK(close(model.intercept(), numbers({-2.524761511833405, -1.563492266306604}), 1e-10));
    CHECK(model.score(distribute(x, layout), beside(y)) == Approx(.8053070056562521).epsilon(1e-10));
    CHECK(model.predict(distribute(x, layout)).shape() == ht::Shape{150, 2});
  }
}

TEST_CASE("columns of any scale are fitted equally well", "[ml][linear]") {
  const auto x = wine().slice(1, 1), y = wine().select(1, 0).contiguous();
  for (const auto& layout : every_layout({178, 12})) {
    ht::LinearRegression model;
    model.fit(distribute(x, layout), beside(y));
    CHECK(close(model.coef(),
                numbers({1.316362225378162e-01, 1.378536117803903e-01, -3.778771014026217e-02, 4.179110539415500e-06,
                         5.208352434058362e-02, 9.125145130767729e-03, -2.077957010160232e-01, -1.524971932881929e-01,
                         1.630348706282448e-01, 2.168797403583873e-01, 1.607963185965481e-01, 1.015859352080456e-03}),
                1e-10));
    CHECK(model.intercept().item<double>() == Approx(11.07184954159192).epsilon(1e-11));
  }
}

TEST_CASE("of many solutions, a fit gives the one of least norm", "[ml][linear]") {
  const auto first = iris().slice(1, 0, 2), a = first.select(1, 0), b = first.select(1, 1);
  const auto x = at::cat({first, at::stack({a, a + b}, 1)}, 1), constant = at::full({150, 1}, 0.1, at::kDouble);
  const auto y = iris().select(1, 2).contiguous();
  for (const auto& layout : every_layout({150, 4})) {
    ht::LinearRegression model;
    model.fit(distribute(x, layout), beside(y));
    CHECK(close(model.coef(), numbers({.97796167634025, -1.158292482539619, .97796167634025, -.18033080619937}), 1e-9));
    CHECK(model.intercept().item<double>() == Approx(-2.5247615118334052).epsilon(1e-10));
  }
  ht::LinearRegression model;
  model.fit(beside(at::cat({first, constant}, 1)), beside(y));
  CHECK(close(model.coef(), numbers({1.775592546481131, -1.338623288738989, 0}), 1e-10));
  model.fit(beside(x.slice(0, 0, 2)), beside(y.slice(0, 0, 2)));
  CHECK(model.score(beside(x.slice(0, 0, 2)), beside(y.slice(0, 0, 2))) == Approx(1));
}

TEST_CASE("columns that are nearly dependent are distinguished", "[ml][linear]") {
  const auto difference = GENERATE(1e-3, 1e-6, 1e-9);  // the condition number is its inverse
  const auto t = at::linspace(-1, 1, 200, at::kDouble);
  const auto x = at::stack({t, t + difference * (5 * t).cos(), t.square()}, 1);
  const auto truth = numbers({2, -1, 0.5});
  const auto y = at::matmul(x, truth) + 3;
  for (const bool intercept : {true, false})
    for (const auto& layout : every_layout({200, 3})) {
      ht::LinearRegression model({.intercept = intercept});
      model.fit(distribute(x, layout), beside(intercept ? y : y - 3));
      // Products keep nine digits; the bound is the rounding of y times the condition number if that is larger.
      CHECK((gathered(model.coef()) - truth).abs().max().item<double>() < std::max(5e-9, 1e-14 / difference));
      CHECK(model.score(distribute(x, layout), beside(intercept ? y : y - 3)) == Approx(1).epsilon(1e-14));
    }
}

TEST_CASE("float32 rows far from 0, and whole numbers", "[ml][linear]") {
  const auto far = (diabetes() + 1e4).to(at::kFloat), near = far.to(at::kDouble) - 1e4;
  const auto y = beside(diabetes_target());
  for (const auto& layout : every_layout({442, 10})) {
    ht::Ridge there({.alpha = 1e-3}), here({.alpha = 1e-3});
    there.fit(distribute(far, layout), y);
    here.fit(distribute(near, layout), y);
    CHECK(there.coef().dtype() == ht::float32);
    CHECK(close(there.coef(), gathered(here.coef()).to(at::kFloat), 1e-5));
    CHECK(there.score(distribute(far, layout), y) == Approx(here.score(distribute(near, layout), y)).epsilon(1e-9));
  }
  const auto whole = at::tensor({0, 1, 2, 3, 4, 5}, at::kInt).reshape({6, 1});
  for (const auto& layout : every_layout({6, 1})) {
    ht::LinearRegression line;
    line.fit(distribute(whole, layout), beside(at::tensor({1, 1, 2, 2, 3, 3}, at::kInt)));
    CHECK(close(line.coef(), numbers({16.0 / 35}), 1e-12));
    CHECK(line.coef().dtype() == ht::float64);
  }
}

TEST_CASE("rows that a function makes give the fit of an array", "[ml][linear]") {
  const auto x = diabetes();
  const ht::Layout layout({442, 10}, 0, ht::world().size());
  const auto first = layout.offset(ht::world().rank()), count = layout.count(ht::world().rank());
  const ht::Rows rows(count, 10,
                      [&](std::int64_t from, std::int64_t n) { return x.slice(0, first + from, first + from + n); });
  ht::LinearRegression model;
  model.fit(rows, beside(diabetes_target()));
  CHECK(model.score(rows, beside(diabetes_target())) == Approx(.5177484222203499).epsilon(1e-12));
}

TEST_CASE("bad input of linear models is an error on all ranks", "[ml][linear]") {
  auto x = iris();
  x[120][2] = NAN;
  const auto good = beside(iris()), y = ht::ones({150}, {.split = 0});
  for (const auto& layout : every_layout({150, 4}))
    CHECK_THROWS_WITH(ht::LinearRegression().fit(distribute(x, layout), y), Contains("got nan in row 120, column 2"));
  CHECK_THROWS_WITH(ht::LinearRegression().fit(good, ht::full({150}, NAN)),
                    Contains("target that is not finite in row 0"));
  CHECK_THROWS_WITH(ht::LinearRegression().fit(good, ht::ones({149})), Contains("got targets of shape (149,)"));
  CHECK_THROWS_WITH(ht::LinearRegression().fit(good, y, {.sample_weight = ht::full({150}, -1.0)}),
                    Contains("negative"));
  CHECK_THROWS_WITH(ht::LinearRegression().fit(ht::ones({0, 3}), ht::ones({0})), Contains("got 0 rows"));
  CHECK_THROWS_WITH(ht::Ridge({.alpha = -1}).fit(good, y), Contains("got alpha -1"));
  CHECK_THROWS_AS(ht::Ridge().coef(), ht::NotFittedError);
  ht::Ridge fitted;
  fitted.fit(good, y);
  CHECK_THROWS_WITH(fitted.predict(ht::ones({4, 2})), Contains("got 2 features"));
  CHECK_THROWS_WITH(fitted.score(good, ht::ones({150, 2})), Contains("got 2 targets"));
}

TEST_CASE("the information in a column does not depend on the sum of weights", "[ml][linear][sizes]") {
  const auto wave = at::arange(1024, at::kDouble).cos();
  const auto x = at::stack({300 + 1e-6 * wave, at::arange(1024, at::kDouble).sin()}, 1);
  const auto y = beside(wave + 2 * x.select(1, 1));
  for (const double rows : {1.0, 0x1p14, 0x1p21, 0x1p43})
    for (const auto& layout : every_layout({1024, 2})) {
      ht::LinearRegression model;
      model.fit(distribute(x, layout), y, {.sample_weight = beside(at::full({1024}, rows, at::kDouble))});
      CHECK(gathered(model.coef())[0].item<double>() == Approx(1e6).epsilon(1e-5));
      CHECK(gathered(model.coef())[1].item<double>() == Approx(2).epsilon(1e-5));
    }
}

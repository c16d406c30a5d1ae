#include "../data.hpp"

#include <heatpp/ml/ml.hpp>

namespace {

using Catch::Contains;

double sum_of(const ht::DNDarray& z) { return gathered(z).to(at::kDouble).sum().item<double>(); }
double squares_of(const ht::DNDarray& z) { return gathered(z).to(at::kDouble).square().sum().item<double>(); }

at::Tensor iris_with_gaps() {
  auto x = iris();
  for (std::int64_t i = 0; i < 150; i += 7) x[i][1] = NAN;
  for (std::int64_t i = 3; i < 150; i += 11) x[i][2] = NAN;
  return x;
}

at::Tensor row(std::initializer_list<double> x) { return at::tensor(at::ArrayRef<double>(x), at::kDouble); }

}  // namespace

// Expected numbers are from scikit-learn 1.9.1.
TEST_CASE("missing numbers of iris are replaced as scikit-learn does", "[ml][imputer]") {
  using enum ht::Impute;
  const auto x = iris_with_gaps();
  for (const auto& layout : every_layout({150, 4})) {
    const auto rows = distribute(x, layout);
    const auto statistics = [&](ht::Impute strategy) {
      return ht::SimpleImputer({.strategy = strategy}).fit(rows).statistics();
    };
    CHECK(close(statistics(mean), row({5.843333333333335, 3.0476562500000006, 3.76544117647059, 1.199333333333334})));
    CHECK(close(statistics(median), row({5.8, 3.0, 4.35, 1.3})));
    CHECK(close(statistics(most_frequent), row({5.0, 3.0, 1.4, 0.2})));
    const auto filled = ht::SimpleImputer({.strategy = constant, .fill_value = -1}).fit_transform(rows);
    CHECK(same(filled, at::where(x.isnan(), -1.0, x)));
    CHECK(close(ht::SimpleImputer().fit_transform(rows), at::where(x.isnan(), x.nanmean(0), x)));
  }
  CHECK(ht::SimpleImputer().fit_transform(even(x.to(at::kFloat))).dtype() == ht::float32);
  auto nothing = iris().slice(0, 0, 9).clone();
  nothing.select(1, 2).fill_(NAN);
  CHECK_THROWS_WITH(ht::SimpleImputer().fit(even(nothing)), Contains("got a column 2 without numbers"));
  CHECK_THROWS_AS(ht::SimpleImputer().transform(even(x)), ht::NotFittedError);
}

TEST_CASE("wine has scikit-learn's products and quantiles", "[ml][products]") {
  for (const auto& layout : every_layout({178, 13})) {
    const auto x = distribute(wine(), layout);
    const auto square = ht::PolynomialFeatures().fit_transform(x);
    CHECK(square.shape() == ht::Shape{178, 105});
    CHECK(sum_of(square) == Approx(140591800.84289706).epsilon(1e-11));
    CHECK(squares_of(square) == Approx(132770280584165.72).epsilon(1e-11));
    const auto cubic =
        ht::PolynomialFeatures({.degree = 3, .interaction_only = true, .include_bias = false}).fit_transform(x);
    CHECK(cubic.shape() == ht::Shape{178, 377});
    CHECK(sum_of(cubic) == Approx(899954802.3900566).epsilon(1e-11));
    CHECK(squares_of(cubic) == Approx(785143933415874.9).epsilon(1e-11));
    ht::QuantileTransformer uniform({.n_quantiles = 100});
    const auto z = uniform.fit_transform(x);
    CHECK(sum_of(uniform.quantiles()) == Approx(89995.65830218184).epsilon(1e-11));
    CHECK(sum_of(z) == Approx(1157.014332662797).epsilon(1e-11));
    CHECK(squares_of(z) == Approx(773.3513525420585).epsilon(1e-11));
    CHECK(close(uniform.inverse_transform(z), wine(), 1e-11));
    ht::QuantileTransformer normal({.n_quantiles = 100, .output = ht::QuantileOutput::normal});
    const auto bell = normal.fit_transform(x);
    CHECK(sum_of(bell) == Approx(1.9288901390831654).epsilon(1e-8));
    CHECK(squares_of(bell) == Approx(2867.6790533552944).epsilon(1e-9));
    CHECK(close(normal.inverse_transform(bell), wine(), 1e-9));
  }
}

TEST_CASE("products and quantiles of few rows, NaN, whole numbers and float32", "[ml][products]") {
  const auto x = at::tensor({2, 3, 5, 7}, at::kInt).reshape({2, 2});
  ht::PolynomialFeatures products;
  CHECK(same(products.fit_transform(even(x)),
             at::tensor({1., 2., 3., 4., 6., 9., 1., 5., 7., 25., 35., 49.}, at::kDouble).reshape({2, 6})));
  CHECK(products.factors()[4] == std::vector<std::int64_t>{0, 1});
  const auto gaps = at::tensor({1., NAN, 2., 2., 3., 4.}, at::kFloat).unsqueeze(1);
  ht::QuantileTransformer few;
  const auto z = few.fit_transform(even(gaps));
  CHECK(z.dtype() == ht::float32);
  CHECK(few.quantiles().shape() == ht::Shape{6, 1});
  CHECK(equals(gathered(z).isnan(), gaps.isnan()));
  CHECK(same(few.transform(even(at::tensor({0., 9.}, at::kDouble).unsqueeze(1))),
             at::tensor({0., 1.}, at::kDouble).unsqueeze(1)));
  CHECK_THROWS_AS(ht::PolynomialFeatures({.degree = -1}).fit(even(x)), ht::ValueError);
  CHECK_THROWS_WITH(products.transform(ht::ones({4, 3})), Contains("got 3 features"));
  CHECK_THROWS_AS(ht::QuantileTransformer({.n_quantiles = 0}).fit(even(x)), ht::ValueError);
  CHECK_THROWS_WITH(ht::QuantileTransformer().fit(even(at::full({3, 1}, INFINITY))), Contains("got inf in row 0"));
}

TEST_CASE("categories of any whole numbers become columns and are found again", "[ml][encoders]") {
  constexpr auto far = std::int64_t{1} << 60;
  const auto x =
      at::tensor({far, std::int64_t{3}, -far, std::int64_t{3}, far, std::int64_t{-2}, far, std::int64_t{8}}, at::kLong)
          .reshape({4, 2});
  const auto columns =
      at::tensor({0., 1., 0., 1., 0., 1., 0., 0., 1., 0., 0., 1., 1., 0., 0., 0., 1., 0., 0., 1.}, at::kDouble)
          .reshape({4, 5});
  for (const auto& layout : every_layout({4, 2})) {
    const auto rows = distribute(x, layout);
    ht::OneHotEncoder encoder;
    const auto z = encoder.fit_transform(rows);
    CHECK(encoder.categories() == std::vector<std::vector<std::int64_t>>{{-far, far}, {-2, 3, 8}});
    CHECK(same(z, columns));
    CHECK(same(encoder.inverse_transform(z), x));
    const auto other = distribute(at::where(x == 8, 9, x), layout);
    CHECK_THROWS_WITH(encoder.transform(other), Contains("got 9 in row 3"));
    ht::OneHotEncoder lenient({.unknown = ht::Unknown::ignore, .dtype = ht::float32});
    const auto zeroed = (columns * at::tensor({1., 1., 1., 1., 0.}, at::kDouble)).to(at::kFloat);
    CHECK(same(lenient.fit(rows).transform(other), zeroed));
  }
  CHECK_THROWS_AS(ht::OneHotEncoder().fit(even(iris())), ht::TypeError);
  CHECK_THROWS_AS(ht::OneHotEncoder().transform(even(x)), ht::NotFittedError);
}

TEST_CASE("labels are numbered in their order", "[ml][encoders]") {
  const auto y = at::tensor({7, -3, 7, 100, 0, -3}, at::kLong);
  for (const auto& layout : every_layout({6})) {
    ht::LabelEncoder encoder;
    const auto numbers = encoder.fit_transform(distribute(y, layout));
    CHECK(same(numbers, at::tensor({2, 0, 2, 3, 1, 0}, at::kLong)));
    CHECK(same(encoder.inverse_transform(numbers), y));
    CHECK_THROWS_WITH(encoder.transform(distribute(y + 1, layout)), Contains("expected one of the 4"));
    CHECK_THROWS_WITH(encoder.inverse_transform(distribute(y, layout)), Contains("got 7 in row 0"));
  }
  CHECK_THROWS_AS(ht::LabelEncoder().classes(), ht::NotFittedError);
}

#include "../data.hpp"

#include <heatpp/ml/ml.hpp>

namespace {

using Catch::Contains;
using LDA = ht::LinearDiscriminantAnalysis;

ht::DNDarray rows(const ht::DNDarray& x, std::initializer_list<std::int64_t> which) {
  return distribute(gathered(x).index_select(0, at::tensor(std::vector<std::int64_t>(which), at::kLong)),
                    ht::Layout({std::ssize(which), x.shape()[1]}, std::nullopt, ht::world().size()));
}

}  // namespace

// Expected values are from scikit-learn 1.9.1 with its solver svd.
TEST_CASE("linear discriminants of iris are scikit-learn's for every layout", "[ml][discriminant]") {
  const auto y = beside(at::tensor({-3, 5, 90}, at::kLong).index_select(0, species()));
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    LDA model;

    model.fit(x, y);

    CHECK(close(model.coef(),
                numbers({6.443631080280957, 12.387058347553953, -17.292270052240358, -21.193933257467318,
                         -1.5624481512316775, -4.465350487440077, 4.791495210114746, 3.125087132298998,
                         -4.8811829290492765, -7.921707860113863, 12.500774842125603, 18.068846125168317})
                    .reshape({3, 4}),
                1e-9));
    CHECK(close(model.intercept(), numbers({-15.771290286756777, -2.040818273458922, -34.19970866714024}), 1e-9));
    CHECK(close(model.explained_variance_ratio(), numbers({0.9912126049653671, 0.008787395034632777}), 1e-9));
    CHECK(close(model.xbar(), iris().mean(0), 1e-12));
    CHECK(close(model.means(), iris().reshape({3, 50, 4}).mean(1), 1e-12));
    CHECK(near_to(gathered(model.scalings()).abs(),
                  numbers({0.8377979357297177, 0.024346847017233924, 1.5500518738840037, 2.186496632927517,
                           2.2235595549637064, 0.9413825816333391, 2.8389936323408533, 2.8680128341522217})
                      .reshape({4, 2}),
                  1e-9));
    CHECK(gathered(model.scalings())[3][0].item<double>() > 0);
    CHECK(model.score(x, y) == Approx(.98));
    CHECK(same(model.classes(), at::tensor({-3, 5, 90}, at::kLong)));
    CHECK(close(rows(model.predict_proba(x), {70}),
                numbers({2.0942270071290433e-28, 0.24907733395274803, 0.750922666047252}).reshape({1, 3}), 1e-8));
    CHECK(near_to(gathered(rows(model.transform(x), {0, 70, 120})).abs(),
                  numbers({8.143647564470609, 0.30347065512173094, 3.7536219477327846, 1.0551188999474657,
                           6.336524427640829, 1.6662278405708044})
                      .reshape({3, 2}),
                  1e-9));
    CHECK(same(LDA().fit_transform(x, y), gathered(model.transform(x))));
    CHECK(model.transform(x).split() == (layout.split() ? std::optional(0) : std::nullopt));
  }
}

TEST_CASE("two classes, priors, weights and fewer components are scikit-learn's", "[ml][discriminant]") {
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    LDA two;
    two.fit(x, beside((species() > 0).to(at::kLong)));
    CHECK(close(two.coef(),
                numbers({-3.229546291029509, -11.877800753924411, 10.98808254741676, 2.8110175324181217}).unsqueeze(0),
                1e-9));
    CHECK(close(two.intercept(), numbers({18.61604067945333}), 1e-9));
    CHECK(near_to(gathered(two.decision_function(x)).index_select(0, at::tensor({0, 70}, at::kLong)),
                  numbers({-23.481428970665508, 19.35538293577417}), 1e-9));
    LDA prior({.priors = {.2, .3, .5}, .n_components = 1});
    prior.fit(x, beside(species()));
    CHECK(near_to(gathered(prior.coef())[1],
                  numbers({0.0581515426062747, -1.642303080661917, 0.5621132364656027, -2.608075418481406}), 1e-8));
    CHECK(close(prior.intercept(), numbers({-9.734004178584584, 4.401932942821418, -27.246131827093862}), 1e-9));
    CHECK(prior.transform(x).shape() == ht::Shape{150, 1});
  }
  const auto x = beside(iris()), y = beside(species()), twice = beside(at::cat({iris(), iris()}));
  LDA weighted, repeated;
  weighted.fit(x, y, {.sample_weight = beside(at::full({150}, 2., at::kDouble))});
  repeated.fit(twice, beside(at::cat({species(), species()})));
  CHECK(close(weighted.coef(), gathered(repeated.coef()), 1e-9));
}

TEST_CASE("discriminants of columns that depend on each other, that are constant, and far from 0",
          "[ml][discriminant]") {
  const auto x = iris(), y = species();
  const auto more = at::cat({x, x.slice(1, 0, 1) * 2, at::ones({150, 1}, at::kDouble)}, 1);
  for (const auto& layout : every_layout({150, 6})) {
    LDA model;
    model.fit(distribute(more, layout), beside(y));
    CHECK(near_to(gathered(model.coef())[0],
                  numbers({3.2218155401404798, 12.38705834755396, -17.29227005224038, -21.193933257467343,
                           1.6109077700702394, 0}),
                  1e-8, 1e-9));
    CHECK(model.scalings().shape() == ht::Shape{6, 2});
  }
  LDA near, far;
  near.fit(beside(x), beside(y));
  far.fit(beside(x + 1e6), beside(y));
  CHECK(close(far.coef(), gathered(near.coef()), 1e-6));
  LDA wines;
  const auto cultivar = at::cat({at::zeros({59}, at::kInt), at::ones({71}, at::kInt), at::full({48}, 2, at::kInt)});
  wines.fit(beside(wine()), beside(cultivar));
  CHECK(wines.score(beside(wine()), beside(cultivar)) == 1);
  CHECK(close(wines.explained_variance_ratio(), numbers({0.6874788878860785, 0.31252111211392153}), 1e-9));
}

TEST_CASE("a pipeline's discriminants learn from its targets", "[ml][discriminant]") {
  const auto x = beside(iris()), y = beside(species());
  ht::Pipeline model{ht::StandardScaler(), LDA({.n_components = 1}), ht::GaussianNB()};
  model.fit(x, y);
  CHECK(model.score(x, y) > .95);
}

TEST_CASE("rows without discriminants are an error on all ranks", "[ml][discriminant]") {
  const auto x = beside(iris()), y = beside(species());
  CHECK_THROWS_WITH(LDA().fit(x, beside(at::zeros({150}, at::kLong))),
                    Contains("150 rows of 4 features and 1 classes"));
  CHECK_THROWS_WITH(LDA({.n_components = 3}).fit(x, y), Contains("3 components"));
  CHECK_THROWS_WITH(LDA({.priors = {.5, .5}}).fit(x, y), Contains("for 3 classes"));
  CHECK_THROWS_WITH(LDA().fit(beside(species().to(at::kDouble).unsqueeze(1)), y), Contains("spread 0 within classes"));
  CHECK_THROWS_AS(LDA().fit(x, ht::full({150}, 0.5)), ht::TypeError);
  CHECK_THROWS_AS(LDA().transform(x), ht::NotFittedError);
}

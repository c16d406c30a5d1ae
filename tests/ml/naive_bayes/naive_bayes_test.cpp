#include "../data.hpp"

#include <heatpp/ml/naive_bayes/discrete_nb.hpp>
#include <heatpp/ml/naive_bayes/gaussian_nb.hpp>

namespace {

using Catch::Contains;

at::Tensor rows(const at::Tensor& x, std::initializer_list<std::int64_t> which) {
  return x.index_select(0, at::tensor(std::vector<std::int64_t>(which), at::kLong));
}

}  // namespace

// Expected values are from scikit-learn 1.9.1.
TEST_CASE("Gaussian naive Bayes is scikit-learn's for every layout", "[ml][naive_bayes]") {
  const auto label = at::tensor({-3, 5, 90}, at::kLong).index_select(0, species());
  const auto y = beside(label);
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::GaussianNB model;

    model.fit(x, y);

    CHECK(model.score(x, y) == Approx(.96));
    CHECK(close(model.theta(), iris().reshape({3, 50, 4}).mean(1), 1e-12));
    CHECK(near_to(gathered(model.var())[0],
                  numbers({.121764003095503, .140816003095503, .029556003095503, .010884003095503}), 1e-12));
    CHECK(model.epsilon() == Approx(3.0955026666666677e-09).epsilon(1e-12));
    CHECK(same(model.class_count(), numbers({50, 50, 50})));
    CHECK(near_to(rows(gathered(model.predict_log_proba(x)), {0, 70, 120}),
                  numbers({0, -41.140634517073266, -57.905311502975, -298.3838105564625, -1.8675994685300958,
                           -.16782011474116398, -509.1080879445617, -18.26267837611819, -1.1711689840154804e-08})
                      .reshape({3, 3}),
                  1e-10, 1e-12));
    CHECK(near_to(gathered(model.predict_proba(x)).sum(1), at::ones({150}, at::kDouble)));
    CHECK(model.predict(x).split() == (layout.split() ? std::optional(0) : std::nullopt));
  }
}

TEST_CASE("Gaussian naive Bayes with weights and priors is scikit-learn's", "[ml][naive_bayes]") {
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::GaussianNB model({.priors = {.2, .3, .5}, .var_smoothing = 1e-2});
    model.fit(x, beside(species()), {.sample_weight = beside(weights(150))});
    CHECK(near_to(gathered(model.theta())[1],
                  numbers({5.884666666666666, 2.7326666666666664, 4.216, 1.315333333333333}), 1e-12));
    CHECK(same(model.class_count(), numbers({150, 150, 150})));
  }
}

TEST_CASE("the test accuracy of wine is scikit-learn's", "[ml][naive_bayes]") {
  const auto y = at::cat({at::zeros({59}, at::kInt), at::ones({71}, at::kInt), at::full({48}, 2, at::kInt)});
  const auto test = at::arange(178, at::kLong).remainder(5) == 0, train = test.logical_not();
  ht::GaussianNB model;
  model.fit(beside(wine().index({train})), beside(y.index({train})));
  CHECK(model.score(beside(wine().index({test})), beside(y.index({test}))) == Approx(.9444444444));
  model.fit(beside(wine()), beside(y));
  CHECK(model.score(beside(wine()), beside(y)) == Approx(.98876404494));
}

TEST_CASE("batches give the state of all rows, also if they lack classes", "[ml][naive_bayes]") {
  const auto x = iris(), y = species();
  const auto counts = (x * 10).round();
  ht::GaussianNB whole, parts;
  ht::MultinomialNB whole_counts, part_counts;
  ht::BernoulliNB whole_bits({.binarize = 2}), part_bits({.binarize = 2});
  whole.fit(beside(x), beside(y));
  whole_counts.fit(beside(counts), beside(y));
  whole_bits.fit(beside(x), beside(y));
  for (const auto& [from, to] : {std::pair(90, 120), std::pair(0, 30), std::pair(120, 150), std::pair(30, 90)}) {
    const auto labels = beside(y.slice(0, from, to));
    parts.partial_fit(beside(x.slice(0, from, to)), labels);
    part_counts.partial_fit(beside(counts.slice(0, from, to)), labels);
    part_bits.partial_fit(beside(x.slice(0, from, to)), labels);
  }
  CHECK(same(parts.class_count(), numbers({50, 50, 50})));
  CHECK(close(parts.theta(), gathered(whole.theta()), 1e-12));
  CHECK(close(parts.var(), gathered(whole.var()), 1e-12));
  CHECK(parts.epsilon() == Approx(whole.epsilon()).epsilon(1e-12));
  CHECK(close(part_counts.feature_log_prob(), gathered(whole_counts.feature_log_prob()), 1e-12));
  CHECK(close(part_bits.feature_log_prob(), gathered(whole_bits.feature_log_prob()), 1e-12));
  CHECK(same(part_bits.classes(), at::tensor({0, 1, 2}, at::kLong)));
}

TEST_CASE("float32 rows far from 0 have the variances of those near it", "[ml][naive_bayes]") {
  const auto far = (iris() + 1e4).to(at::kFloat), near = far.to(at::kDouble) - 1e4;
  for (const auto& layout : every_layout({150, 4})) {
    ht::GaussianNB there, here;
    there.fit(distribute(far, layout), beside(species()));
    here.fit(distribute(near, layout), beside(species()));
    CHECK(close(there.var(), gathered(here.var()), 1e-9));
    CHECK(same(there.predict(distribute(far, layout)), gathered(here.predict(distribute(near, layout)))));
    CHECK(there.predict_proba(distribute(far, layout)).dtype() == ht::float32);
  }
}

TEST_CASE("multinomial naive Bayes is scikit-learn's for every layout", "[ml][naive_bayes]") {
  const auto counts = (iris() * 10).floor().to(at::kInt), y = species();
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(counts, layout);
    ht::MultinomialNB model, weighted({.alpha = .5, .fit_prior = false});
    model.fit(x, beside(y));
    weighted.fit(x, beside(y), {.sample_weight = beside(weights(150))});
    CHECK(model.score(x, beside(y)) == Approx(.95333333333));
    CHECK(near_to(gathered(model.feature_log_prob())[0],
                  numbers({-.7064370716899981, -1.0849134443099473, -1.936301289948676, -3.71180023830495}), 1e-12));
    CHECK(near_to(rows(gathered(model.predict_log_proba(x)), {0, 70}),
                  numbers({-2.0225954244779132e-07, -15.415796646981576, -21.588955946317554, -31.729197559386392,
                           -.8172979133905471, -.5827215412428188})
                      .reshape({2, 3}),
                  1e-9, 1e-12));
    CHECK(near_to(gathered(weighted.feature_log_prob())[1],
                  numbers({-.8773078833770072, -1.644314717143315, -1.210748752091952, -2.3753711160766464}), 1e-12));
  }
}

TEST_CASE("Bernoulli naive Bayes is scikit-learn's for every layout", "[ml][naive_bayes]") {
  const auto y = species();
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::BernoulliNB model({.binarize = 2}), weighted({.alpha = .5, .binarize = 2});
    model.fit(x, beside(y));
    weighted.fit(x, beside(y), {.sample_weight = beside(weights(150))});
    CHECK(model.score(x, beside(y)) == Approx(.82));
    CHECK(near_to(gathered(model.feature_log_prob())[0],
                  numbers({-.019418085857101808, -.019418085857101808, -3.9512437185814275, -3.9512437185814275}),
                  1e-12));
    CHECK(near_to(rows(gathered(model.predict_log_proba(x)), {0, 70}),
                  numbers({-.02954760409595769, -3.9811758641164494, -4.560994359369392, -4.3694478524670215,
                           -.4574248470388754, -1.0372433422918177})
                      .reshape({2, 3}),
                  1e-9));
    CHECK(near_to(gathered(weighted.feature_log_prob())[1],
                  numbers({-.0033167526259942903, -.009983443984182827, -.0033167526259942903, -5.71042701737487}),
                  1e-10));
  }
}

TEST_CASE("bad input of naive Bayes is an error on all ranks", "[ml][naive_bayes]") {
  auto bad = iris(), negative = iris();
  bad[120][2] = NAN;
  negative[77][1] = -1;
  const auto x = beside(iris()), y = beside(species());
  for (const auto& layout : every_layout({150, 4})) {
    CHECK_THROWS_WITH(ht::GaussianNB().fit(distribute(bad, layout), y), Contains("got nan in row 120, column 2"));
    CHECK_THROWS_WITH(ht::BernoulliNB().fit(distribute(bad, layout), y), Contains("got nan in row 120, column 2"));
    CHECK_THROWS_WITH(ht::MultinomialNB().fit(distribute(negative, layout), y), Contains("got -1 in row 77, column 1"));
  }
  CHECK_THROWS_WITH(ht::GaussianNB({.priors = {.5, .5}}).fit(x, y), Contains("got 2 priors for 3 classes"));
  CHECK_THROWS_WITH(ht::GaussianNB({.priors = {.5, .4}}).fit(x, y), Contains("sum to 1"));
  CHECK_THROWS_WITH(ht::GaussianNB().fit(ht::ones({6, 2}), ht::ones({6}, {.dtype = ht::int64})),
                    Contains("variance 0"));
  CHECK_THROWS_WITH(ht::MultinomialNB({.alpha = -1}).fit(x, y), Contains("got alpha -1"));
  CHECK_THROWS_AS(ht::MultinomialNB().feature_count(), ht::NotFittedError);
  CHECK_THROWS_AS(ht::GaussianNB().predict(x), ht::NotFittedError);
  CHECK_THROWS_WITH(ht::GaussianNB().fit(x, y).partial_fit(ht::ones({4, 2}), ht::ones({4}, {.dtype = ht::int64})),
                    Contains("got 2 features"));
}

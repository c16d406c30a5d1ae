#include "labels.hpp"

#include <heatpp/ml/ml.hpp>

namespace {

using Catch::Contains;

at::Tensor weights() { return counting().remainder(4).to(at::kDouble); }
at::Tensor measured() { return at::cos(counting().to(at::kDouble) * 0.1) * 3 + 100; }
at::Tensor modelled() { return measured() + at::sin(counting().to(at::kDouble) * 0.7) * 0.5 + 0.1; }

/// Calls f(a, b) with two vectors in all pairs of layouts in which one is even or replicated.
template <class F>
void for_layouts(const at::Tensor& a, const at::Tensor& b, F f) {
  for (const auto& layout : every_layout({a.size(0)})) {
    f(distribute(a, layout), even(b));
    f(even(a), distribute(b, layout));
    f(distribute(a, layout), on_all(b));
    f(distribute(a, layout), distribute(b, layout));
  }
}

auto near(double x) { return Approx(x).epsilon(1e-11).margin(1e-13); }

at::Tensor thirds() { return at::arange(150, at::kLong).div(50, "floor") * 1'000'000'007 - 5; }

}  // namespace

TEST_CASE("predicted labels are counted as in scikit-learn, for any layouts of both", "[ml][metrics]") {
  const auto matrix =
      at::tensor({44, 3, 3, 0, 0, 0, 44, 3, 3, 0, 0, 0, 43, 4, 3, 4, 0, 0, 43, 3, 0, 0, 0, 0, 0}, at::kLong);
  const auto weighted = at::tensor(
      {20., 0., 0., 0., 0., 0., 72., 9., 9., 0., 0., 0., 106., 8., 6., 4., 0., 0., 63., 3., 0., 0., 0., 0., 0.},
      at::kDouble);
  const auto w = even(weights());
  for_layouts(truth(), guess(), [&](const auto& y, const auto& p) {
    CHECK(ht::accuracy_score(y, p) == near(0.87));
    CHECK(ht::balanced_accuracy_score(y, p) == near(0.87));
    CHECK(ht::balanced_accuracy_score(y, p, {.sample_weight = w}) == near(0.8958333333333334));
    const auto confused = ht::confusion_matrix(y, p);
    CHECK(same(confused.matrix, matrix.reshape({5, 5})));
    CHECK(same(confused.labels, at::tensor({-7, -2, 3, 8, 13}, at::kLong)));
    CHECK(same(ht::confusion_matrix(y, p, {.sample_weight = w}).matrix, weighted.reshape({5, 5})));
    CHECK(ht::accuracy_score(y, p, {.sample_weight = w}) == near(0.87));
  });
}

TEST_CASE("precision, recall and f1 have all averages", "[ml][metrics]") {
  using enum ht::ScoreAverage;
  const auto w = on_all(weights());
  for_layouts(truth(), guess(), [&](const auto& y, const auto& p) {
    CHECK(ht::precision_score(y, p, {.average = macro}) == near(0.7180775799681574));
    CHECK(ht::recall_score(y, p, {.average = macro}) == near(0.696));
    CHECK(ht::f1_score(y, p, {.average = macro}) == near(0.7067725094411398));
    CHECK(ht::f1_score(y, p, {.average = macro, .sample_weight = w}) == near(0.7080214915108531));
    CHECK(ht::precision_score(y, p, {.average = weighted}) == near(0.8975969749601969));
    CHECK(ht::precision_score(y, p, {.average = weighted, .sample_weight = w}) == near(0.9080012077294686));
    CHECK(ht::f1_score(y, p, {.average = weighted}) == near(0.8834656368014248));
    CHECK(ht::f1_score(y, p, {.average = micro}) == near(0.87));
    CHECK(ht::precision_score(y, p, {.average = micro, .sample_weight = w}) == near(0.87));
    CHECK(ht::jaccard_score(y, p, {.average = macro}) == near(0.6334493203659043));
    CHECK(ht::jaccard_score(y, p, {.average = micro}) == near(0.7699115044247787));
    CHECK(ht::jaccard_score(y, p, {.average = weighted, .sample_weight = w}) == near(0.7932032433395705));
    const auto each = ht::precision_recall_fscore_support(y, p, {.zero_division = 0.5});
    CHECK(close(each.precision,
                at::tensor({0.9166666666666666, 0.9361702127659575, 0.8775510204081632, 0.86, 0.}, at::kDouble)));
    CHECK(close(each.recall, at::tensor({0.88, 0.88, 0.86, 0.86, 0.5}, at::kDouble)));
    CHECK(close(each.f1,
                at::tensor({0.8979591836734694, 0.9072164948453608, 0.8686868686868687, 0.86, 0.}, at::kDouble)));
    CHECK(same(each.support, at::tensor({50., 50., 50., 50., 0.}, at::kDouble)));
  });
  for_layouts(yes_or_no(), guessed_yes_or_no(), [&](const auto& y, const auto& p) {
    CHECK(ht::precision_score(y, p) == near(0.71875));
    CHECK(ht::recall_score(y, p) == near(0.6433566433566433));
    CHECK(ht::f1_score(y, p) == near(0.6789667896678967));
    CHECK(ht::f1_score(y, p, {.pos_label = 0}) == near(0.32558139534883723));
    CHECK(ht::jaccard_score(y, p) == near(0.5139664804469274));
  });
}

TEST_CASE("scores of given labels, shares and numbers of rows are scikit-learn's", "[ml][metrics]") {
  using enum ht::ScoreAverage;
  const auto w = on_all(weights());
  const std::vector<std::int64_t> some{3, -7, 99}, two{8, 3};
  const auto square = [](const std::vector<double>& x) { return at::tensor(x, at::kDouble).reshape({3, 3}); };
  for_layouts(truth(), guess(), [&](const auto& y, const auto& p) {
    CHECK(ht::accuracy_score(y, p, {.normalize = false}) == 174);
    CHECK(ht::accuracy_score(y, p, {.sample_weight = w, .normalize = false}) == near(261));
    const auto confused = ht::confusion_matrix(y, p, {.labels = some});
    CHECK(same(confused.labels, at::tensor({3, -7, 99}, at::kLong)));
    CHECK(same(confused.matrix, square({43, 0, 0, 3, 44, 0, 0, 0, 0}).to(at::kLong)));
    CHECK(same(ht::confusion_matrix(y, p, {.sample_weight = w, .labels = {8, 13, 3}}).matrix,
               square({63, 3, 0, 0, 0, 0, 8, 6, 106})));
    const auto shares = [&](ht::ConfusionShare of) {
      return ht::confusion_matrix(y, p, {.labels = some, .normalize = of}).matrix;
    };
    CHECK(close(shares(ht::ConfusionShare::truth), square({1, 0, 0, 3. / 47, 44. / 47, 0, 0, 0, 0})));
    CHECK(close(shares(ht::ConfusionShare::predicted), square({43. / 46, 0, 0, 3. / 46, 1, 0, 0, 0, 0})));
    CHECK(close(shares(ht::ConfusionShare::all), square({43. / 90, 0, 0, 3. / 90, 44. / 90, 0, 0, 0, 0})));
    CHECK(ht::precision_score(y, p, {.average = macro, .labels = some}) == near(0.5980725623582767));
    CHECK(ht::precision_score(y, p, {.average = micro, .labels = some}) == near(0.8969072164948454));
    CHECK(ht::recall_score(y, p, {.average = weighted, .labels = some}) == near(0.87));
    CHECK(ht::f1_score(y, p, {.average = micro, .labels = some}) == near(0.883248730964467));
    CHECK(ht::f1_score(y, p, {.average = weighted, .sample_weight = w, .labels = two}) == near(0.8792385218365062));
    CHECK(ht::jaccard_score(y, p, {.average = micro, .labels = some}) == near(0.7909090909090909));
    CHECK(ht::jaccard_score(y, p, {.average = weighted, .sample_weight = w, .labels = two}) ==
          near(0.7857595070273922));
    CHECK(close(ht::jaccard_scores(y, p, {.labels = some}),
                at::tensor({0.7678571428571429, 0.8148148148148148, 0.}, at::kDouble)));
    const auto each = ht::precision_recall_fscore_support(y, p, {.zero_division = 1, .labels = some});
    CHECK(close(each.precision, at::tensor({43. / 49, 44. / 48, 1.}, at::kDouble)));
    CHECK(close(each.recall, at::tensor({0.86, 0.88, 1.}, at::kDouble)));
    CHECK(same(each.support, at::tensor({50., 50., 0.}, at::kDouble)));
  });
}

TEST_CASE("averages leave out scores that are 0 / 0 if these are NaN", "[ml][metrics]") {
  using enum ht::ScoreAverage;
  const auto y = even(truth()), p = even(guess());
  const std::vector<std::int64_t> some{3, 13, 99}, absent{99};
  CHECK(ht::precision_score(y, p, {.average = macro, .zero_division = NAN, .labels = some}) ==
        near(0.4387755102040816));
  CHECK(ht::recall_score(y, p, {.average = macro, .zero_division = NAN, .labels = some}) == near(0.86));
  CHECK(ht::f1_score(y, p, {.average = micro, .zero_division = NAN, .labels = some}) == near(0.819047619047619));
  CHECK(ht::f1_score(y, p, {.average = weighted, .zero_division = NAN, .labels = some}) == near(0.8686868686868688));
  for (const auto average : {macro, micro, weighted}) {
    CHECK(std::isnan(ht::recall_score(y, p, {.average = average, .zero_division = NAN, .labels = absent})));
    CHECK(ht::recall_score(y, p, {.average = average, .zero_division = 1, .labels = absent}) == 1);
    CHECK(ht::precision_score(y, p, {.average = average, .labels = {13}}) == 0);
  }
}

TEST_CASE("labels may be any whole numbers, far apart or at the ends of int64, or bool", "[ml][metrics]") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  const auto a = at::tensor({least, most, std::int64_t{0}, most, least, std::int64_t{7}}, at::kLong);
  const auto b = at::tensor({least, most, std::int64_t{7}, least, least, std::int64_t{7}}, at::kLong);
  for_layouts(a, b, [&](const auto& y, const auto& p) {
    const auto confused = ht::confusion_matrix(y, p);
    CHECK(same(confused.labels, at::tensor({least, std::int64_t{0}, std::int64_t{7}, most}, at::kLong)));
    CHECK(
        same(confused.matrix, at::tensor({2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1}, at::kLong).reshape({4, 4})));
  });
  CHECK(ht::accuracy_score(even(yes_or_no().to(at::kBool)), even(guessed_yes_or_no().to(at::kByte))) ==
        near(at::eq(yes_or_no(), guessed_yes_or_no()).to(at::kDouble).mean().item<double>()));
}

TEST_CASE("probabilities and scores are judged as scikit-learn does", "[ml][metrics]") {
  const auto w = even(weights());
  for (const auto& layout : every_layout({200, 4})) {
    const auto p = distribute(probabilities(), layout);
    CHECK(ht::log_loss(even(truth()), p) == near(1.4815365788526753));
    CHECK(ht::log_loss(on_all(truth()), p, {.sample_weight = w}) == near(1.4806348397044198));
    CHECK(ht::log_loss(even(truth()), p, {.labels = {-7, -2, 3, 8}}) == near(1.4815365788526753));
    CHECK(ht::brier_score_loss(even(truth()), p) == near(0.7851204395326061));
    CHECK(ht::brier_score_loss(on_all(truth()), p, {.sample_weight = w}) == near(0.7934234539186554));
    CHECK(ht::top_k_accuracy_score(even(truth()), p) == near(0.505));
    CHECK(ht::top_k_accuracy_score(even(truth()), p, {.k = 3, .sample_weight = w}) == near(0.7733333333333333));
    CHECK(ht::log_loss(even(truth()), p, {.normalize = false}) == near(296.30731577053507));
    CHECK(ht::log_loss(even(truth()), p, {.sample_weight = w, .normalize = false}) == near(444.19045191132597));
    CHECK(ht::top_k_accuracy_score(even(truth()), p, {.normalize = false}) == 101);
    CHECK(ht::top_k_accuracy_score(even(truth()), p, {.k = 3, .sample_weight = w, .normalize = false}) == near(232));
    const auto equal = distribute(at::round(probabilities() * 4), layout);
    CHECK(ht::top_k_accuracy_score(even(truth()), equal, {.labels = {-7, -2, 3, 8}}) == near(0.51));
  }
  for_layouts(yes_or_no(), scores(), [&](const auto& y, const auto& s) {
    CHECK(ht::roc_auc_score(y, s) == near(0.7392957919273708));
    CHECK(ht::roc_auc_score(y, s, {.sample_weight = w}) == near(0.7851825690067377));
  });
  for_layouts(yes_or_no(), at::sigmoid(scores()), [&](const auto& y, const auto& s) {
    CHECK(ht::log_loss(y, s) == near(0.5429034215149268));
    CHECK(ht::brier_score_loss(y, s) == near(0.18282514691906107));
    CHECK(ht::top_k_accuracy_score(y, s, {.k = 1, .sample_weight = w}) == near(0.6966666666666667));
    CHECK(ht::top_k_accuracy_score(y, s) == 1);
  });
  const auto both = at::stack({1 - at::sigmoid(scores()), at::sigmoid(scores())}, 1);
  CHECK(ht::brier_score_loss(even(yes_or_no()), even(both)) == near(0.18282514691906107));
  CHECK(ht::top_k_accuracy_score(even(yes_or_no()), even(scores()), {.k = 1}) == near(0.665));
  CHECK(ht::roc_auc_score(even(yes_or_no()), even((scores() * 10).round().to(at::kInt))) == near(0.7392957919273708));
  CHECK(ht::roc_auc_score(even(yes_or_no()), even(scores().to(at::kFloat))) == near(0.7392957919273708));
}

TEST_CASE("numbers predicted are judged as scikit-learn does", "[ml][metrics]") {
  const auto w = even(weights());
  for_layouts(measured(), modelled(), [&](const auto& y, const auto& p) {
    CHECK(ht::mean_squared_error(y, p) == near(0.13511863504378357));
    CHECK(ht::root_mean_squared_error(y, p) == near(0.3675848678112084));
    CHECK(ht::mean_absolute_error(y, p) == near(0.3291768603147797));
    CHECK(ht::r2_score(y, p) == near(0.9705131947682019));
    CHECK(ht::explained_variance_score(y, p) == near(0.972822836811451));
    CHECK(ht::max_error(y, p) == near(0.5999982451727988));
    CHECK(ht::mean_squared_error(y, p, {.sample_weight = w}) == near(0.13924041568326184));
    CHECK(ht::r2_score(y, p, {.sample_weight = w}) == near(0.9694254784788255));
    CHECK(ht::explained_variance_score(y, p, {.sample_weight = w}) == near(0.9719016685545895));
  });
  const auto y = at::stack({measured(), measured() * 2 + counting()}, 1);
  const auto p = at::stack({modelled(), y.select(1, 1) + 1 + at::sin(counting().to(at::kDouble))}, 1);
  for (const auto& layout : every_layout({200, 2})) {
    CHECK(ht::mean_squared_error(distribute(y, layout), even(p)) == near(0.8214774728628695));
    CHECK(ht::r2_score(even(y), distribute(p, layout)) == near(0.9850347793910591));
    CHECK(ht::explained_variance_score(distribute(y, layout), on_all(p)) == near(0.9863380463730644));
    CHECK(ht::mean_absolute_error(on_all(y), distribute(p, layout)) == near(0.6668534226094613));
  }
}

TEST_CASE("errors of numbers far from 0, of whole numbers, and of equal numbers", "[ml][metrics]") {
  const auto far = (measured() + 1e6).to(at::kFloat), model = (modelled() + 1e6).to(at::kFloat);
  const auto wide = far.to(at::kDouble), error = wide - model.to(at::kDouble);
  CHECK(ht::r2_score(even(far), even(model)) ==
        near((1 - error.square().sum() / (wide - wide.mean()).square().sum()).item<double>()));
  const auto i = counting();
  CHECK(ht::mean_absolute_error(even(i), even(i + i.remainder(2))) == near(0.5));
  const auto ones = at::ones({200}, at::kDouble);
  CHECK(ht::r2_score(even(ones), even(ones)) == 1);
  CHECK(ht::r2_score(even(ones), even(measured())) == 0);
  CHECK(std::isnan(ht::r2_score(ht::ones({1}), ht::zeros({1}))));
}

TEST_CASE("groups are compared as scikit-learn does", "[ml][metrics]") {
  for_layouts(truth(), guess(), [](const auto& a, const auto& b) {
    CHECK(ht::rand_score(a, b) == near(0.8960301507537688));
    CHECK(ht::adjusted_rand_score(a, b) == near(0.7145168056301895));
    CHECK(ht::fowlkes_mallows_score(a, b) == near(0.7831086031902044));
    CHECK(ht::mutual_info_score(a, b) == near(1.0038532927263433));
    CHECK(ht::normalized_mutual_info_score(a, b) == near(0.7006517510268883));
    CHECK(ht::adjusted_mutual_info_score(a, b) == near(0.6937705821713801));
    CHECK(ht::homogeneity_score(a, b) == near(0.7241270835981763));
    CHECK(ht::completeness_score(a, b) == near(0.6786507080710786));
    CHECK(ht::v_measure_score(a, b) == near(0.7006517510268884));
  });
  const auto alone = at::arange(3000, at::kLong), one = at::zeros({3000}, at::kLong);  // no table of all pairs
  CHECK(ht::adjusted_rand_score(even(alone), even(alone.flip(0) * 5)) == 1);
  CHECK(ht::homogeneity_score(even(alone.div(2, "floor")), even(alone)) == near(1));
  CHECK(ht::completeness_score(even(alone), even(alone.div(2, "floor"))) == near(1));
  CHECK(ht::normalized_mutual_info_score(even(alone), even(one)) == 0);
  CHECK(ht::normalized_mutual_info_score(even(one), even(one + 4)) == 1);
}

TEST_CASE("clusters of iris have scikit-learn's scores", "[ml][metrics]") {
  const auto x = iris();
  for (const auto& layout : every_layout({150, 4})) {
    const auto rows = distribute(x, layout);
    ht::KMeans model({.n_clusters = 3, .init = on_all(x.index_select(0, at::tensor({0, 50, 100}, at::kLong)))});
    const auto labels = model.fit_predict(rows);
    CHECK(ht::silhouette_score(rows, labels) == near(0.5528190123564095));
    CHECK(ht::calinski_harabasz_score(rows, labels) == near(561.62775662962));
    CHECK(ht::davies_bouldin_score(rows, labels) == near(0.6619715465007465));
    CHECK(ht::adjusted_rand_score(even(thirds()), labels) == near(0.7302382722834697));
    CHECK(ht::normalized_mutual_info_score(labels, even(thirds())) == near(0.7581756800057784));
    CHECK(ht::adjusted_mutual_info_score(labels, even(thirds())) == near(0.7551191675800484));
    CHECK(ht::v_measure_score(labels, even(thirds())) == near(0.7581756800057784));
    CHECK(ht::fowlkes_mallows_score(labels, even(thirds())) == near(0.8208080729114153));
  }
}

TEST_CASE("separation of labels of any kind, rows of any dtype, and a sample of rows", "[ml][metrics]") {
  const auto x = iris();
  for (const auto& layout : every_layout({150})) {
    const auto labels = distribute(thirds(), layout);
    CHECK(ht::silhouette_score(even(x), labels) == near(0.5034774406932961));
    CHECK(ht::calinski_harabasz_score(even(x), labels) == near(487.33087637489984));
    CHECK(ht::davies_bouldin_score(even((x * 10).round().to(at::kInt)), labels) == near(0.7513707094756737));
    CHECK(ht::silhouette_score(even((x + 1e4).to(at::kFloat)), labels) == Approx(0.50348).epsilon(1e-3));
    CHECK(ht::calinski_harabasz_score(even((x + 1e4).to(at::kFloat)), labels) == Approx(487.33).epsilon(1e-3));
  }
  const auto sampled = ht::silhouette_score(on_all(x), on_all(thirds()), {.sample_size = 60, .seed = 4});
  CHECK(std::abs(sampled - 0.5034774406932961) < 0.1);
  CHECK(sampled != 0.5034774406932961);
  CHECK(ht::silhouette_score(even(x), even(thirds()), {.sample_size = 60, .seed = 4}) == near(sampled));
  CHECK(ht::silhouette_score(even(x), even(thirds()), {.sample_size = 150}) == near(0.5034774406932961));
}

TEST_CASE("invalid predictions are an error of metrics on all ranks", "[ml][metrics]") {
  const auto y = even(truth()), p = even(guess());
  CHECK_THROWS_WITH(ht::accuracy_score(y, ht::zeros({3}, {.dtype = ht::int64})),
                    Contains("got shapes (200,) and (3,)"));
  CHECK_THROWS_AS(ht::accuracy_score(ht::zeros({0}, {.dtype = ht::int64}), ht::zeros({0}, {.dtype = ht::int64})),
                  ht::ValueError);
  CHECK_THROWS_AS(ht::confusion_matrix(y, even(measured())), ht::TypeError);
  CHECK_THROWS_WITH(ht::precision_score(y, p), Contains("got 5 labels from -7 to 13, and 1"));
  CHECK_THROWS_WITH(ht::confusion_matrix(y, p, {.labels = {13, 99}}), Contains("none of which is in y_true"));
  CHECK_THROWS_WITH(ht::confusion_matrix(y, p, {.labels = {3, 3}}), Contains("got 3 twice in labels"));
  CHECK_THROWS_WITH(ht::jaccard_scores(y, p, {.labels = {3, 8, 3}}), Contains("got 3 twice in labels"));
  CHECK_THROWS_WITH(ht::classification_report(y, p, {.labels = {8, 8}}), Contains("got 8 twice in labels"));
  CHECK_THROWS_WITH(ht::log_loss(p, even(probabilities())), Contains("got 5 labels for 4 columns"));
  CHECK_THROWS_WITH(ht::log_loss(p, even(probabilities()), {.labels = {-7, -2, 3, 8}}), Contains("got the label 13"));
  CHECK_THROWS_WITH(ht::log_loss(y, even(probabilities() * 3)), Contains("got the probability"));
  CHECK_THROWS_WITH(ht::brier_score_loss(y, even(probabilities() * 3)), Contains("got the probability"));
  CHECK_THROWS_WITH(ht::top_k_accuracy_score(y, even(probabilities()), {.k = 0}), Contains("got k 0"));
  CHECK_THROWS_WITH(ht::roc_auc_score(y, even(measured())), Contains("got 4 labels"));
  auto bad = measured();
  bad[123] = NAN;
  CHECK_THROWS_WITH(ht::roc_auc_score(even(yes_or_no()), even(bad)), Contains("got nan in row 123"));
  CHECK_THROWS_WITH(ht::mean_squared_error(even(measured()), even(bad)), Contains("row 123"));
  CHECK_THROWS_WITH(ht::max_error(even(bad), even(measured())), Contains("row 123"));
  CHECK_THROWS_AS(ht::r2_score(even(measured()), even(probabilities())), ht::ValueError);
  CHECK_THROWS_WITH(ht::silhouette_score(even(iris()), even(at::zeros({150}, at::kLong))),
                    Contains("got 1 labels for 150"));
  CHECK_THROWS_AS(ht::davies_bouldin_score(even(iris()), even(at::arange(150, at::kLong))), ht::ValueError);
  CHECK_THROWS_AS(ht::silhouette_score(even(iris()), even(thirds()), {.sample_size = 151}), ht::ValueError);
  CHECK_THROWS_AS(ht::mean_squared_error(even(measured()), even(modelled()), {.sample_weight = even(-weights())}),
                  ht::ValueError);
}

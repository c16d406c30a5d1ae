#include "labels.hpp"

#include <heatpp/ml/ml.hpp>

namespace {

using Catch::Contains;

at::Tensor some_weights() { return counting().remainder(4).to(at::kDouble); }

auto close_to(double x) { return Approx(x).epsilon(1e-11).margin(1e-13); }

/// The lengths and sums of vectors.
struct Curve {
  std::int64_t size;
  double a, b, thresholds;
};
void hold(const Curve& expected, const ht::DNDarray& a, const ht::DNDarray& b, const ht::DNDarray& thresholds) {
  CHECK(a.shape() == ht::Shape{expected.size});
  CHECK(b.shape() == ht::Shape{expected.size});
  CHECK(gathered(a).sum().item<double>() == close_to(expected.a));
  CHECK(gathered(b).sum().item<double>() == close_to(expected.b));
  const auto t = gathered(thresholds);
  CHECK(t.masked_fill(t.isinf(), 0.0).sum().item<double>() == close_to(expected.thresholds));
}
void hold(const Curve& expected, const ht::RocCurve& found) {
  hold(expected, found.fpr, found.tpr, found.thresholds);
  CHECK(gathered(found.thresholds)[0].item<double>() == std::numeric_limits<double>::infinity());
}
void hold(const Curve& expected, const ht::PrecisionRecallCurve& found) {
  hold(expected, found.precision, found.recall, found.thresholds);
  CHECK(found.thresholds.shape() == ht::Shape{expected.size - 1});
}

}  // namespace

TEST_CASE("areas of several labels are scikit-learn's for every layout", "[ml][metrics]") {
  using enum ht::ScoreAverage;
  using enum ht::MultiClass;
  const auto y = beside(truth()), w = beside(some_weights());
  for (const auto& layout : every_layout({200, 4})) {
    const auto p = distribute(probabilities(), layout);
    CHECK(ht::roc_auc_score(y, p, {.multi_class = ovr}) == close_to(0.4992));
    CHECK(ht::roc_auc_score(y, p, {.multi_class = ovr, .average = weighted}) == close_to(0.4992));
    CHECK(ht::roc_auc_score(y, p, {.multi_class = ovo}) == close_to(0.4992));
    CHECK(ht::roc_auc_score(y, p, {.sample_weight = w, .multi_class = ovr}) == close_to(0.4930699332873246));
    CHECK(ht::roc_auc_score(y, p, {.sample_weight = w, .multi_class = ovr, .average = weighted}) ==
          close_to(0.49519243156199677));
    CHECK(close(ht::roc_auc_scores(y, p), numbers({0.504, 0.49, 0.5008, 0.502})));
    CHECK(close(ht::roc_auc_scores(y, p, {.sample_weight = w}),
                numbers({0.4889285714285715, 0.4919047619047619, 0.5021296296296296, 0.48931677018633535})));
    CHECK(close(ht::average_precision_scores(y, p),
                numbers({0.27728236848469245, 0.2620974003583326, 0.2566774811302835, 0.26002504454692354})));
    CHECK(ht::average_precision_score(y, p) == close_to(0.26402057363005804));
    CHECK(ht::average_precision_score(y, p, {.average = weighted, .sample_weight = w}) == close_to(0.3164564120847822));
  }
}

TEST_CASE("curves over thresholds are scikit-learn's for every layout", "[ml][metrics]") {
  const auto w = beside(some_weights());
  for (const auto& layout : every_layout({200})) {
    const auto y = distribute(yes_or_no(), layout), s = distribute(scores(), layout);
    hold({15, 6.105263157894736, 9.55944055944056, 3.5}, ht::roc_curve(y, s));
    hold({29, 11.087719298245615, 18.02097902097902, 9.8},
         ht::roc_curve(y, beside(scores()), {.drop_intermediate = false}));
    hold({27, 9.720930232558139, 17.22897196261682, 9.1}, ht::roc_curve(beside(yes_or_no()), s, {.sample_weight = w}));
    hold({70, 32.56, 33, 18.613569745118234},
         ht::roc_curve(distribute(truth(), layout), beside(probabilities().select(1, 0).contiguous()),
                       {.pos_label = -7}));
    hold({29, 24.715572241804416, 18.020979020979016, 9.8}, ht::precision_recall_curve(y, s));
    hold({23, 20.10406660911757, 12.020979020979023, 13.7},
         ht::precision_recall_curve(y, s, {.drop_intermediate = true}));
    hold({29, 25.010524270480303, 18.514018691588788, 9.8}, ht::precision_recall_curve(y, s, {.sample_weight = w}));
    CHECK(ht::average_precision_score(y, s) == close_to(0.8813477604572262));
    CHECK(ht::average_precision_score(y, s, {.sample_weight = w}) == close_to(0.9011272831348258));
    CHECK(ht::average_precision_score(y, distribute(-scores(), layout), {.pos_label = 0}) ==
          close_to(0.6276167118916869));
  }
  const auto y = ht::array({0, 0, 1, 1}), s = ht::array({.1, .4, .35, .8}, {.dtype = ht::float64});
  const auto roc = ht::roc_curve(y, s);
  CHECK(same(roc.fpr, numbers({0, 0, .5, .5, 1})));
  CHECK(same(roc.tpr, numbers({0, .5, .5, 1, 1})));
  const auto found = ht::precision_recall_curve(y, s);
  CHECK(close(found.precision, numbers({.5, 2. / 3, .5, 1, 1}), 1e-15));
  CHECK(same(found.recall, numbers({1, 1, .5, .5, 0})));
  CHECK(same(found.thresholds, numbers({.1, .35, .4, .8})));
}

TEST_CASE("Matthews' correlation and the report are scikit-learn's", "[ml][metrics]") {
  const auto w = beside(some_weights());
  for (const auto& layout : every_layout({200})) {
    const auto y = distribute(truth(), layout), p = beside(guess());
    CHECK(ht::matthews_corrcoef(y, p) == close_to(0.8291010913929889));
    CHECK(ht::matthews_corrcoef(y, p, {.sample_weight = w}) == close_to(0.8198085824689638));
    CHECK(ht::matthews_corrcoef(distribute(yes_or_no(), layout), beside(guessed_yes_or_no())) ==
          close_to(0.011076296005915018));
    CHECK(ht::matthews_corrcoef(distribute(yes_or_no(), layout), beside(at::zeros({200}, at::kLong))) == 0);
    CHECK(ht::classification_report(y, p, {.digits = 3}) ==
          "              precision    recall  f1-score   support\n\n"
          "          -7      0.917     0.880     0.898        50\n"
          "          -2      0.936     0.880     0.907        50\n"
          "           3      0.878     0.860     0.869        50\n"
          "           8      0.860     0.860     0.860        50\n"
          "          13      0.000     0.000     0.000         0\n\n"
          "    accuracy                          0.870       200\n"
          "   macro avg      0.718     0.696     0.707       200\n"
          "weighted avg      0.898     0.870     0.883       200\n");
    CHECK(ht::classification_report(y, p, {.zero_division = 1, .labels = {3, -7, 99}}) ==
          "              precision    recall  f1-score   support\n\n"
          "           3       0.88      0.86      0.87        50\n"
          "          -7       0.92      0.88      0.90        50\n"
          "          99       1.00      1.00      1.00         0\n\n"
          "   micro avg       0.90      0.87      0.88       100\n"
          "   macro avg       0.93      0.91      0.92       100\n"
          "weighted avg       0.90      0.87      0.88       100\n");
    CHECK_THAT(ht::classification_report(y, p, {.digits = 14, .labels = {13, 8, 3, -2, -7, 4}}),
               Contains("\n             4  0.00000000000000") &&
                   Contains("\n      accuracy                      0.87000000000000       200\n"));
  }
  CHECK_THROWS_WITH(ht::classification_report(beside(truth()), beside(guess()), {.target_names = {"a"}}),
                    Contains("got 1 names for 5 labels"));
}

TEST_CASE("labels may be floating numbers that are whole", "[ml][metrics]") {
  for (const auto& layout : every_layout({200})) {
    const auto y = distribute(truth().to(at::kFloat), layout), p = beside(guess().to(at::kDouble));
    CHECK(ht::accuracy_score(y, p) == close_to(0.87));
    CHECK(same(ht::confusion_matrix(y, p).labels, at::tensor({-7, -2, 3, 8, 13}, at::kLong)));
  }
  auto wrong = truth().to(at::kDouble);
  wrong[150] = NAN;
  wrong[123] = 0.5;
  CHECK_THROWS_WITH(ht::accuracy_score(beside(wrong), beside(guess())), Contains("with a fraction, in row 123 first"));
  CHECK_THROWS_AS(ht::accuracy_score(beside(wrong), beside(guess())), ht::TypeError);
}

TEST_CASE("scores that cannot be judged are errors on all ranks", "[ml][metrics]") {
  const auto y = beside(truth()), p = beside(probabilities()), two = beside(yes_or_no());
  CHECK_THROWS_WITH(ht::roc_auc_score(y, p), Contains("no multi_class; expected ovr or ovo"));
  CHECK_THROWS_WITH(ht::roc_auc_score(two, p, {.multi_class = ht::MultiClass::ovr}),
                    Contains("got 2 labels for 4 columns"));
  CHECK_THROWS_WITH(ht::roc_auc_score(y, p, {.multi_class = ht::MultiClass::ovo, .labels = {-7, -2, 3, 9}}),
                    Contains("got no row of label 9"));
  CHECK_THROWS_WITH(ht::roc_auc_score(y, p, {.multi_class = ht::MultiClass::ovo, .average = ht::ScoreAverage::micro}),
                    Contains("got the average micro"));
  CHECK_THROWS_WITH(ht::roc_auc_scores(two, p), Contains("got 2 labels for 4 columns"));
  CHECK_THROWS_WITH(ht::average_precision_scores(two, beside(scores())), Contains("got 2 labels for 1 columns"));
  CHECK_THROWS_WITH(ht::roc_curve(y, beside(scores())), Contains("got 4 labels; expected two"));
  CHECK_THROWS_WITH(ht::roc_curve(two, beside(scores()), {.pos_label = 5}), Contains("and 5 as the positive one"));
  CHECK_THROWS_WITH(ht::precision_recall_curve(y, p), Contains("got 4 columns of scores"));
  auto bad = scores();
  bad[123] = NAN;
  CHECK_THROWS_WITH(ht::roc_curve(two, beside(bad)), Contains("got nan in row 123"));
}

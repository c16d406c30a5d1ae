#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/training/metrics.hpp>

using namespace heatpp::nn;

namespace {

/// Returns this rank's rows of a tensor that all ranks hold. If there are several ranks, the last one has none.
at::Tensor my_rows(const at::Tensor& all) {
  const auto ranks = std::max(1, ht::world().size() - 1), rank = ht::world().rank();
  if (rank == ranks) return all.narrow(0, 0, 0);
  const ht::Layout cut({all.size(0)}, 0, ranks);
  return all.narrow(0, cut.offset(rank), cut.count(rank));
}

}  // namespace

TEST_CASE("Averages are over the samples of all ranks", "[nn][metrics]") {
  Average average;
  const double n = ht::world().size(), rank = ht::world().rank();

  average.add(rank, 2);
  average.add(rank, 1);

  CHECK(average.local() == rank);
  CHECK(average.value(ht::world()) == Approx((n - 1) / 2));
  average.reset();
  CHECK(std::isnan(average.value(ht::world())));
}

TEST_CASE("Accuracy is the share of rows with the right class", "[nn][metrics]") {
  const auto scores = torch::tensor({{1.0, 2.0, 0.0}, {3.0, 0.0, 1.0}, {0.0, 1.0, 2.0}, {5.0, 4.0, 6.0}});
  const auto targets = torch::tensor({1, 0, 0, 0});

  CHECK(accuracy(scores, targets) == 0.5);
  CHECK(top_k_accuracy(scores, targets, 1) == 0.5);
  CHECK(top_k_accuracy(scores, targets, 2) == 0.75);
  CHECK(top_k_accuracy(scores, targets, 9) == 1);
  CHECK_THROWS_AS(top_k_accuracy(scores, targets, 0), ht::ValueError);
}

TEST_CASE("Intersection over union is the mean over rows", "[nn][metrics]") {
  const auto scores =
      torch::tensor({{3.0, 0.5, -1.0, 0.0}, {-1.0, -2.0, -3.0, -4.0}, {1.0, 1.0, 1.0, 1.0}, {-1.0, -1.0, -1.0, -1.0}});
  const auto masks = torch::tensor({{1, 0, 1, 0}, {0, 1, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}});

  CHECK(intersection_over_union(scores, masks) == Approx((1.0 / 3 + 0 + 1 + 1) / 4));
  CHECK(intersection_over_union(scores.view({4, 1, 2, 2}), masks.view({4, 1, 2, 2})) == Approx(7.0 / 12));
  CHECK_THROWS_AS(intersection_over_union(scores, masks.view({4, 1, 4})), ht::ValueError);
  CHECK_THROWS_AS(intersection_over_union(scores[0], masks[0]), ht::ValueError);
}

TEST_CASE("Moments are those of the values of all ranks", "[nn][metrics]") {
  const auto all = torch::randn({37, 2}, at::detail::createCPUGenerator(3), torch::kDouble) * 3 + 1e6;
  const auto mine = my_rows(all);
  Moments moments;

  moments.add(mine.narrow(0, 0, mine.size(0) / 2));
  for (const auto& row : mine.narrow(0, mine.size(0) / 2, mine.size(0) - mine.size(0) / 2).unbind(0)) {
    moments.add(row[0].item<double>());
    moments.add(row[1].item<double>());
  }

  const auto result = moments.value(ht::world());
  CHECK(result.count == 74);
  CHECK(result.mean == Approx(all.mean().item<double>()).epsilon(1e-14));
  CHECK(result.std == Approx(all.std(false).item<double>()).epsilon(1e-9));
  CHECK(std::isnan(Moments().value(ht::world()).mean));
}

TEST_CASE("A confusion matrix counts the rows of all ranks", "[nn][metrics]") {
  const auto targets = torch::tensor({0, 0, 0, 1, 1, 2}), taken = torch::tensor({0, 0, 1, 1, 0, 1});
  ConfusionMatrix by_class(3), by_scores(3);

  by_class.add(my_rows(taken), my_rows(targets));
  by_scores.add(my_rows(torch::one_hot(taken, 3).to(torch::kFloat)), my_rows(targets));

  CHECK(by_class.value(ht::world()) == std::vector<std::int64_t>{2, 1, 0, 1, 1, 0, 0, 1, 0});
  CHECK(by_scores.value(ht::world()) == by_class.value(ht::world()));
  const auto scores = by_class.scores(ht::world());
  CHECK(scores.accuracy == 0.5);
  CHECK(scores.precision == std::vector<double>{2.0 / 3, 1.0 / 3, 0});
  CHECK(scores.recall == std::vector<double>{2.0 / 3, 0.5, 0});
  CHECK(scores.f1 == std::vector<double>{2.0 / 3, 0.4, 0});
  CHECK_THROWS_AS(by_class.add(torch::tensor({3}), torch::tensor({0})), ht::ValueError);
  CHECK_THROWS_AS(by_class.add(torch::tensor({1, 2}), torch::tensor({0})), ht::ValueError);
}

TEST_CASE("Errors of a regression are over the elements of all ranks", "[nn][metrics]") {
  const auto generator = at::detail::createCPUGenerator(4);
  const auto targets = torch::randn({23, 4}, generator) + 2, outputs = targets + 0.1 * torch::randn({23, 4}, generator);
  RegressionMetrics metrics;

  metrics.add(my_rows(outputs), my_rows(targets));

  const auto result = metrics.value(ht::world());
  const auto y = targets.to(torch::kDouble), error = outputs.to(torch::kDouble) - y;
  const auto squares = error.square().sum();
  CHECK(result.count == 92);
  CHECK(result.mse == Approx((squares / 92).item<double>()));
  CHECK(result.mae == Approx(error.abs().mean().item<double>()));
  CHECK(result.r2 == Approx((1 - squares / (y - y.mean()).square().sum()).item<double>()));
  CHECK(result.relative_l2 == Approx((squares / y.square().sum()).sqrt().item<double>()));
  CHECK_THROWS_AS(metrics.add(outputs, targets.narrow(0, 0, 3)), ht::ValueError);
}

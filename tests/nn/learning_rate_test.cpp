#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/optim/learning_rate.hpp>

#include <cmath>
#include <numbers>

using namespace heatpp::nn;

TEST_CASE("A warm-up rises and a cosine falls", "[nn][rate]") {
  const WarmupCosine rate{.peak = 0.2, .warmup = 4, .total = 12, .end = 0.02};

  CHECK(rate.at(0) == Approx(0.05));
  CHECK(rate.at(3) == Approx(0.2));
  CHECK(rate.at(4) == Approx(0.2));
  CHECK(rate.at(8) == Approx(0.11));
  CHECK(rate.at(12) == Approx(0.02));
  CHECK(rate.at(99) == Approx(0.02));
  CHECK((WarmupCosine{.peak = 1, .total = 0}).at(0) == 1);

  const auto composed = warmed_up(cosine_rate({.rate = 0.2, .length = 8, .end = 0.02}), 4);
  for (std::int64_t batch = 0; batch < 20; ++batch) CHECK(composed(batch) == Approx(rate.at(batch)));
}

TEST_CASE("Rates equal those of PyTorch's schedulers", "[nn][rate]") {
  // StepLR(step_size=3, gamma=0.5), MultiStepLR([2, 5], 0.1), ExponentialLR(0.9), CosineAnnealingLR(4, eta_min=0.1),
  // from 1, by their closed forms.
  const auto step = step_rate({.rate = 1, .every = 3, .factor = 0.5});
  const auto steps = multi_step_rate({.rate = 1, .milestones = {2, 5}, .factor = 0.1});
  const auto power = exponential_rate({.rate = 1, .factor = 0.9});
  const auto cosine = cosine_rate({.rate = 1, .length = 4, .end = 0.1});
  const double by_step[] = {1, 1, 1, 0.5, 0.5, 0.5, 0.25}, by_steps[] = {1, 1, 0.1, 0.1, 0.1, 0.01, 0.01},
               by_power[] = {1, 0.9, 0.81, 0.729, 0.6561, 0.59049, 0.531441},
               by_cosine[] = {1, 0.868198051533946, 0.55, 0.231801948466054, 0.1, 0.1, 0.1};

  for (std::int64_t batch = 0; batch < 7; ++batch) {
    CHECK(step(batch) == Approx(by_step[batch]));
    CHECK(steps(batch) == Approx(by_steps[batch]));
    CHECK(power(batch) == Approx(by_power[batch]));
    CHECK(cosine(batch) == Approx(by_cosine[batch]));
  }
}

TEST_CASE("schedules are combined", "[nn][rate]") {
  const auto restarted = cosine_rate({.rate = 1, .length = 4, .restarts = true});
  CHECK(restarted(4) == 1);
  CHECK(restarted(6) == Approx(0.5));

  const auto parts =
      in_sequence({{constant_rate(3), 2}, {step_rate({.rate = 1, .every = 1, .factor = 0.5}), 2}, {constant_rate(7)}});
  const double expected[] = {3, 3, 1, 0.5, 7, 7};
  for (std::int64_t batch = 0; batch < 6; ++batch) CHECK(parts(batch) == expected[batch]);

  CHECK(times(constant_rate(2), constant_rate(3))(5) == 6);
  CHECK(scaled(constant_rate(2), 4)(5) == 8);
  CHECK_THROWS_AS(in_sequence({}), ht::ValueError);
  CHECK_THROWS_AS(constant_rate(-1), ht::ValueError);
  CHECK_THROWS_AS(cosine_rate({.rate = 1, .length = 3, .end = std::nan("")}), ht::ValueError);
  CHECK_THROWS_AS(exponential_rate({.factor = -0.5}), ht::ValueError);
  CHECK_THROWS_AS(warmed_up(constant_rate(1), -3), ht::ValueError);
  CHECK_THROWS_AS(step_rate({.every = 0}), ht::ValueError);
  CHECK_THROWS_AS(multi_step_rate({.milestones = {5, 2}}), ht::ValueError);
}

TEST_CASE("A plateau lowers the rate, also after a resumption", "[nn][rate]") {
  const PlateauRateOptions options{.factor = 0.5, .smallest = 0.2, .plateau = {.patience = 1, .threshold = 0}};
  PlateauRate rate(constant_rate(1), options), resumed(constant_rate(1), options);
  std::vector<double> rates;

  for (int i = 0; i < 10; ++i) {
    resumed.set_state(rate.state());
    CHECK(resumed.update(i < 2 ? -i : 0) == rate.update(i < 2 ? -i : 0));
    CHECK(resumed.state() == rate.state());
    rates.push_back(rate.at(i));
  }

  CHECK(rates == std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2});
  CHECK_THROWS_AS(PlateauRate(constant_rate(1), {.factor = 1}), ht::ValueError);
}

TEST_CASE("Training stops some values after the best one", "[nn][rate]") {
  EarlyStopping stopping({.patience = 2, .threshold = 0}), resumed = stopping;
  std::vector<bool> stopped, best;

  for (const double loss : {3.0, 1.0, 2.0, 0.5, 0.5, std::nan(""), 0.6, 0.1}) {
    resumed.set_state(stopping.state());
    stopped.push_back(stopping.update(loss));
    best.push_back(stopping.is_best());
    CHECK(resumed.update(loss) == stopped.back());
  }

  CHECK(stopped == std::vector<bool>{false, false, false, false, false, false, true, true});
  CHECK(best == std::vector<bool>{true, true, false, true, false, false, false, true});
  EarlyStopping highest({.mode = PlateauMode::max, .patience = 0, .threshold = 0});
  CHECK_FALSE(highest.update(0.5));
  CHECK_FALSE(highest.update(0.6));
  CHECK(highest.update(0.6));
  CHECK(highest.best_value() == 0.6);
  CHECK_FALSE(highest.is_best());
}

TEST_CASE("A rate is set in all parameter groups", "[nn][rate]") {
  SmallNet net;
  torch::optim::SGD sgd({torch::optim::OptimizerParamGroup(net.first->parameters()),
                         torch::optim::OptimizerParamGroup(net.second->parameters())},
                        torch::optim::SGDOptions(0.5));

  set_learning_rate(sgd, 0.25);

  for (const auto& group : sgd.param_groups()) CHECK(group.options().get_lr() == 0.25);
}

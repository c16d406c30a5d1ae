#include "../catch.hpp"
#include <heatpp_nn/optim/plateau.hpp>
#include <heatpp_nn/parallel/schedule.hpp>

#include <cmath>
#include <map>
#include <string>

using namespace heatpp::nn;

namespace {

/// Returns what each batch does, as letters: g or n (gradients over all or the node), m, s, b, d. No communication.
std::string trace(SyncState state, std::int64_t batches) {
  std::string text;
  for (std::int64_t b = 0; b < batches; ++b) {
    const auto todo = plan(b, state);
    text += todo.global_gradients ? 'g' : 'n';
    if (todo.merge) text += 'm', state.flight.reset();
    if (todo.start) text += 's', state.flight = Flight{b, state.interval.wait}, state.last_sync = b;
    if (todo.block) text += 'b', state.flight.reset();
    if (todo.drain) text += 'd';
    if (todo.global_gradients) state.last_sync = b;
  }
  return text;
}

/// Returns the intervals over `reviews` reviews of a constant loss.
std::map<int, Interval> changes(const IntervalOptions& options, int reviews) {
  DetectMetricPlateau detector;
  std::map<int, Interval> found{{0, options.first}};
  auto now = options.first;
  for (int review = 0; review < reviews; ++review)
    if (detector.update(1.0)) found[review] = now = next_interval(now, options);
  return found;
}

}  // namespace

TEST_CASE("The schedule of warm-up, cycle and cool-down", "[nn][schedule]") {
  const SyncState state{.phases = {.warmup = 2, .cooldown = 2, .total = 14}, .interval = {4, 1}, .nodes = 2};

  CHECK(trace(state, 14) ==
        "gg"
        "nnn"
        "ns"
        "nm"
        "nn"
        "ns"
        "nm"
        "nd"
        "gg");
}

TEST_CASE("Merge comes before start, and the age is the wait", "[nn][schedule]") {
  CHECK(trace({.interval = {1, 1}, .nodes = 2}, 4) ==
        "ns"
        "nms"
        "nms"
        "nms");
  CHECK(trace({.interval = {3, 2}, .nodes = 2}, 8) == "nnnsnnmnsnnm");
  CHECK(trace({.interval = {8, 1}, .fragments = 4, .nodes = 2}, 6) == "nnsnmnsnmns");
  CHECK(trace({.interval = {5, 1}, .fragments = 3, .nodes = 2}, 5) == "nnsnmnsnm");
  CHECK(trace({.interval = {4, 3}, .fragments = 4, .nodes = 2}, 8) == "nsnnnmsnnnmsn");
  CHECK(trace({.interval = {2, 0}, .nodes = 2}, 4) ==
        "n"
        "nsb"
        "n"
        "nsb");
}

TEST_CASE("Warm-up, cool-down and an unknown total may be left out", "[nn][schedule]") {
  CHECK(trace({.phases = {.total = 3}, .interval = {8, 1}, .nodes = 2}, 4) == "nnndg");
  CHECK(trace({.phases = {.warmup = 3, .cooldown = 3, .total = 4}, .nodes = 2}, 5) == "ggggg");
  CHECK(trace({.phases = {.warmup = 1}, .interval = {2, 1}, .nodes = 2}, 5) == "gnnsnmns");
}

TEST_CASE("One node never starts a global synchronisation", "[nn][schedule]") {
  CHECK(trace({.interval = {1, 1}, .nodes = 1}, 4) == "nnnn");
}

TEST_CASE("Intervals at a constant loss follow the published state machine", "[nn][schedule]") {
  const std::map<int, Interval> expected{{0, {4, 1}},  {3, {2, 1}},  {6, {1, 1}},  {9, {8, 2}},
                                         {12, {4, 1}}, {15, {2, 1}}, {18, {1, 1}}, {21, {8, 2}},
                                         {24, {4, 1}}, {27, {2, 1}}, {30, {1, 1}}, {33, {8, 2}}};

  CHECK((changes({}, 34) == expected));
}

TEST_CASE("No interval falls below one batch", "[nn][schedule]") {
  CHECK(next_interval({2, 1}, {.factor = 3}) == Interval{1, 1});
  CHECK(next_interval({1, 1}, {.longest = 1}) == Interval{1, 1});
  CHECK(next_interval({1, 1}, {.longest = 3}) == Interval{3, 1});
  CHECK(next_interval({8, 4}, {.factor = 3}) == Interval{2, 2});
  CHECK(next_interval({1, 1, 1}, {.local_skips = true}) == Interval{8, 2, 2});
  CHECK(next_interval({8, 2, 2}, {.local_skips = true}) == Interval{4, 1, 1});
  CHECK(fitted({4, 1}, 1) == Interval{4, 1});
  CHECK(fitted({4, 1}, 3) == Interval{4, 3});
  CHECK(fitted({4, 1, 2}, 9) == Interval{9, 9, 2});
  CHECK(fitted({4, 1}, 2, 4) == Interval{8, 2});
}

TEST_CASE("A plateau is three values in a row without improvement", "[nn][plateau]") {
  DetectMetricPlateau detector;

  CHECK_FALSE(detector.update(1.0));
  CHECK_FALSE(detector.update(0.96));  // not 5 % better
  CHECK_FALSE(detector.update(std::nan("")));
  CHECK(detector.update(0.95));  // exactly 5 % is not enough
  CHECK(detector.state() == DetectMetricPlateau::State{1.0, 0});
  CHECK_FALSE(detector.update(0.949));
  CHECK(detector.state() == DetectMetricPlateau::State{0.949, 0});
}

TEST_CASE("Negative values, maxima and absolute thresholds", "[nn][plateau]") {
  DetectMetricPlateau negative, accuracy({.mode = PlateauMode::max, .patience = 0}),
      absolute({.patience = 0, .threshold = 0.5, .threshold_mode = ThresholdMode::absolute});
  for (auto* detector : {&negative, &accuracy, &absolute}) (void)detector->update(-1.0);

  (void)negative.update(-1.04);
  CHECK(negative.state().bad == 1);
  (void)negative.update(-1.06);
  CHECK(negative.state() == DetectMetricPlateau::State{-1.06, 0});
  CHECK_FALSE(accuracy.update(-0.9));
  CHECK(accuracy.update(-0.9));
  CHECK(absolute.update(-1.5));
  CHECK_FALSE(absolute.update(-1.6));
}

TEST_CASE("a detector continues from its state", "[nn][plateau]") {
  DetectMetricPlateau one, other;
  for (const double loss : {1.0, 0.99, 0.98}) (void)one.update(loss);

  other.set_state(one.state());

  CHECK(one.update(0.97));
  CHECK(other.update(0.97));
}

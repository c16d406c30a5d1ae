#include "../../catch.hpp"

#include <heatpp_nn/training/detail/options/state.hpp>

#include <cmath>

namespace nn = heatpp::nn;

namespace {

at::Tensor bytes_of(const std::string& text) {
  return at::tensor(std::vector<std::uint8_t>(text.begin(), text.end()), at::kByte);
}

}  // namespace

TEST_CASE("checkpoints store the state of a trainer's loop by the names of its fields", "[nn][checkpoint]") {
  const nn::detail::LoopState state{.losses = {0.1 + 0.2, 1e300},
                                    .batch = std::int64_t{1} << 60,
                                    .early = {5, -1, true, {std::nan(""), 3}},
                                    .scale = {1024, 7},
                                    .least = INFINITY};
  const auto read = nn::detail::loop_state(nn::detail::to_tensor(state)).value();
  CHECK(read.losses.sum == 0.1 + 0.2);
  CHECK(read.losses.weight == 1e300);
  CHECK(read.batch == state.batch);  // float64 would not hold all such numbers
  CHECK(read.early == state.early);
  CHECK(read.scale.scale == 1024);
  CHECK(read.scale.good == 7);
  CHECK(read.least == INFINITY);
}

TEST_CASE("Fields that a file lacks keep their values, and those of later versions are left out", "[nn][checkpoint]") {
  const auto read = nn::detail::loop_state(bytes_of("batch 6\nearly.plateau.bad 2\nlater 1\n")).value();
  CHECK(read.batch == 6);
  CHECK(read.early.plateau.bad == 2);
  CHECK(read.early.best == -1);
  CHECK(read.scale.scale == 1);
}

TEST_CASE("files without a state of a trainer's loop are refused", "[nn][checkpoint]") {
  for (const auto* text : {"", "some text", "batch six\n", "batch 6x\n", "batch 6\nearly.stopped maybe\n"})
    CHECK(!nn::detail::loop_state(bytes_of(text)));
  CHECK(!nn::detail::loop_state({}));
  CHECK(!nn::detail::loop_state(at::zeros({9}, at::kDouble)));
  CHECK(!nn::detail::loop_state(at::zeros({11}, at::kFloat)));
}

TEST_CASE("The numbers of older files are read", "[nn][checkpoint]") {
  // Losses, rows, batches; values seen, number of the best, stopped; best value, values without improvement; scaler.
  const auto older = at::tensor({0.5, 4.0, 6.0, 3.0, 1.0, 1.0, 0.25, 2.0, 8.0, 9.0}, at::kDouble);
  const auto oldest = nn::detail::loop_state(older).value();
  CHECK(oldest.losses.weight == 4);
  CHECK(oldest.batch == 6);
  CHECK(oldest.early == nn::EarlyStopping::State{3, 1, true, {0.25, 2}});
  CHECK(oldest.scale.good == 9);
  CHECK(oldest.least == 0.25);
  CHECK(nn::detail::loop_state(at::cat({older, at::full({1}, 0.125, at::kDouble)})).value().least == 0.125);
}

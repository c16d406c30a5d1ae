#include <heatpp_nn/training/detail/options/older_state.hpp>

#include <cmath>
#include <span>
#include <stdexcept>

namespace heatpp::nn::detail {
namespace {

constexpr std::int64_t unknown = -1;

std::optional<std::int64_t> known(std::int64_t number) {
  return number == unknown ? std::nullopt : std::optional(number);
}

Interval interval_of(std::span<const std::int64_t> n) { return {n[0], n[1], n[2]}; }

void set_numbers(RankState& state, std::span<const std::int64_t> n) {
  if (n.size() != 23 && n.size() != 24) throw std::runtime_error("a record of another version");
  state.position = {static_cast<std::uint64_t>(n[0]), n[1], n[2]};
  if (n.size() == 24) state.position.rows = known(n[23]);  // older files count batches only
  auto& daso = state.daso;
  daso.batch = n[3];
  daso.sync.phases = {n[4], n[5], known(n[6])};
  daso.sync.last_sync = n[7];
  if (n[8] != unknown) daso.sync.flight = Flight{n[8], n[9]};
  daso.plateau.bad = n[10];
  daso.needed = n[11];
  daso.failed = n[12] != 0;
  daso.asked = {n[13], n[14], known(n[15])};
  if (n[16] != unknown) daso.scaler = GradScaler::State{.good = n[16]};
  daso.sync.interval = interval_of(n.subspan(17));
  daso.wanted = interval_of(n.subspan(20));
}

std::vector<DasoEvent> events_of(std::span<const std::int64_t> n) {
  std::vector<DasoEvent> events;
  for (std::size_t i = 0; i + 7 <= n.size(); i += 7)
    events.push_back({n[i], static_cast<DasoEvent::Kind>(n[i + 1]), static_cast<Phase>(n[i + 2]),
                      interval_of(n.subspan(i + 4)), n[i + 3]});
  return events;
}

Tuning tuning_of(const std::vector<double>& numbers) {
  const auto known = [](double number, const auto&... choices) {
    return ((number == static_cast<double>(choices)) || ...);
  };
  const bool cut = numbers.size() == 7;  // the oldest builds did not cut the weights
  if ((numbers.size() != 6 && !cut) ||
      !known(numbers[0], Wire::float32, Wire::bfloat16, Wire::int8, Wire::int4, Wire::float4) ||
      !known(numbers[1], MergePolicy::daso, MergePolicy::alpha, MergePolicy::delta, MergePolicy::outer))
    throw std::runtime_error("a damaged record of how nodes synchronise");
  return {.wire = static_cast<Wire>(numbers[0]),
          .policy = static_cast<MergePolicy>(numbers[1]),
          .costs = {numbers[2], numbers[3], numbers[4], numbers[5]},
          .fragments = cut ? std::llround(numbers[6]) : 1};
}

}  // namespace

void set_older(RankState& state, const OlderNumbers& numbers) {
  set_numbers(state, numbers.numbers);
  if (numbers.losses.size() != 6) throw std::runtime_error("a damaged record of losses");
  const auto& losses = numbers.losses;
  auto& daso = state.daso;
  daso.plateau.best = losses[0];
  daso.losses = {losses[1], losses[2], losses[3], losses[4]};
  if (daso.scaler) daso.scaler->scale = losses[5];
  daso.tuning = tuning_of(numbers.tuning);
  daso.events = events_of(numbers.events);
}

std::optional<LoopState> older_loop_state(const at::Tensor& tensor) {
  if (tensor.numel() != 10 && tensor.numel() != 11) return std::nullopt;
  const auto* const numbers = tensor.const_data_ptr<double>();
  const auto whole = [&](int i) { return static_cast<std::int64_t>(numbers[i]); };
  return LoopState{.losses = {numbers[0], numbers[1]},
                   .batch = whole(2),
                   .early = {whole(3), whole(4), numbers[5] != 0, {numbers[6], whole(7)}},
                   .scale = {numbers[8], whole(9)},
                   .least = numbers[tensor.numel() == 11 ? 10 : 6]};  // the oldest have what `stop` took as the best
}

}  // namespace heatpp::nn::detail

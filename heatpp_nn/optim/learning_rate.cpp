#include <heatpp_nn/optim/learning_rate.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heatpp::nn {
namespace {

using heatpp::detail::raise;

/// Returns the fraction of `length` batches that lies before `batch`, from 0 to 1.
double share(std::int64_t batch, std::int64_t length) {
  return std::clamp(static_cast<double>(batch) / static_cast<double>(std::max<std::int64_t>(1, length)), 0.0, 1.0);
}

void check_length(const char* op, std::int64_t batches) {
  if (batches < 1) raise<ValueError>(op, "got {} batches; expected at least 1", batches);
}

void check_numbers(const char* op, double rate, double other = 0) {
  for (const auto number : {rate, other})
    if (!(number >= 0 && std::isfinite(number)))
      raise<ValueError>(op, "got {}; expected rates and factors that are finite and at least 0", number);
}

}  // namespace

RateSchedule constant_rate(double rate) {
  check_numbers("constant_rate", rate);
  return [rate](std::int64_t) { return rate; };
}

RateSchedule step_rate(const StepDecay& decay) {
  check_numbers("step_rate", decay.rate, decay.factor);
  check_length("step_rate", decay.every);
  return [decay](std::int64_t batch) {
    return decay.rate * std::pow(decay.factor, static_cast<double>(batch / decay.every));
  };
}

RateSchedule multi_step_rate(const MultiStepDecay& decay) {
  check_numbers("multi_step_rate", decay.rate, decay.factor);
  if (!std::ranges::is_sorted(decay.milestones))
    raise<ValueError>("multi_step_rate", "got milestones {}; expected rising ones",
                      heatpp::detail::tuple_text(decay.milestones));
  return [decay](std::int64_t batch) {
    const auto passed = std::ranges::upper_bound(decay.milestones, batch) - decay.milestones.begin();
    return decay.rate * std::pow(decay.factor, static_cast<double>(passed));
  };
}

RateSchedule exponential_rate(const ExponentialDecay& decay) {
  check_numbers("exponential_rate", decay.rate, decay.factor);
  return [decay](std::int64_t batch) { return decay.rate * std::pow(decay.factor, static_cast<double>(batch)); };
}

RateSchedule cosine_rate(const CosineDecay& decay) {
  check_numbers("cosine_rate", decay.rate, decay.end);
  check_length("cosine_rate", decay.length);
  return [decay](std::int64_t batch) {
    const auto done = share(decay.restarts ? batch % decay.length : batch, decay.length);
    return decay.end + (decay.rate - decay.end) * (1 + std::cos(std::numbers::pi * done)) / 2;
  };
}

RateSchedule warmed_up(RateSchedule after, std::int64_t batches) {
  if (batches < 0) raise<ValueError>("warmed_up", "got {} batches; expected at least 0", batches);
  return [after = std::move(after), batches](std::int64_t batch) {
    return batch < batches ? after(0) * share(batch + 1, batches) : after(batch - batches);
  };
}

RateSchedule in_sequence(std::vector<RatePart> parts) {
  if (parts.empty()) raise<ValueError>("in_sequence", "got no schedules; expected at least one");
  return [parts = std::move(parts)](std::int64_t batch) {
    std::size_t i = 0;
    for (; i + 1 < parts.size() && batch >= parts[i].batches; ++i) batch -= parts[i].batches;
    return parts[i].schedule(batch);
  };
}

RateSchedule times(RateSchedule a, RateSchedule b) {
  return [a = std::move(a), b = std::move(b)](std::int64_t batch) { return a(batch) * b(batch); };
}

RateSchedule scaled(RateSchedule schedule, double factor) { return times(std::move(schedule), constant_rate(factor)); }

double WarmupCosine::at(std::int64_t batch) const {
  if (batch < warmup) return peak * share(batch + 1, warmup);
  return end + (peak - end) * (1 + std::cos(std::numbers::pi * share(batch - warmup, total - warmup))) / 2;
}

PlateauRate::PlateauRate(RateSchedule schedule, const PlateauRateOptions& options)
    : schedule_(std::move(schedule)), options_(options), detector_(options.plateau) {
  if (!(options.factor > 0 && options.factor < 1))
    raise<ValueError>("PlateauRate", "got factor {}; expected one between 0 and 1", options.factor);
}

bool PlateauRate::update(double metric) {
  const bool plateau = detector_.update(metric);
  state_.plateau = detector_.state();
  const auto scale = std::max(options_.smallest, state_.scale * options_.factor);
  if (!plateau || scale >= state_.scale) return false;
  state_.scale = scale;
  return true;
}

void PlateauRate::set_state(const State& state) {
  state_ = state;
  detector_.set_state(state.plateau);
}

bool EarlyStopping::update(double metric) {
  const bool plateau = detector_.update(metric);
  if (detector_.state().best == metric && detector_.state().bad == 0 && !plateau) state_.best = state_.seen;
  ++state_.seen;
  state_.plateau = detector_.state();
  state_.stopped = state_.stopped || plateau;
  return state_.stopped;
}

void EarlyStopping::set_state(const State& state) {
  state_ = state;
  detector_.set_state(state.plateau);
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
}

GroupRates::GroupRates(const torch::optim::Optimizer& optimizer) {
  for (const auto& group : optimizer.param_groups()) shares_.push_back(group.options().get_lr());
  const auto largest = shares_.empty() ? 0.0 : *std::ranges::max_element(shares_);
  for (auto& share : shares_) share = largest > 0 ? share / largest : 1;
}

void GroupRates::set(torch::optim::Optimizer& optimizer, double rate) const {
  auto& groups = optimizer.param_groups();
  for (std::size_t i = 0; i < groups.size(); ++i)
    groups[i].options().set_lr(i < shares_.size() ? rate * shares_[i] : rate);
}

}  // namespace heatpp::nn

#include <heatpp/ml/detail/state.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>

namespace heatpp {

using namespace ml::detail;

ModelState StandardScaler::state() const {
  const auto& [shift, scale, clip] = learnt("state");
  return {
      kind(),
      {{"with_mean", text_of(options_.with_mean)}, {"with_std", text_of(options_.with_std)}},
      {{"shift", shift}, {"scale", scale}, {"mean", seen_->mean}, {"var", seen_->var}, {"n_samples_seen", seen_->n}}};
}

StandardScaler StandardScaler::from_state(const ModelState& state) {
  const StateReader read("StandardScaler", state);
  StandardScaler scaler({.with_mean = read.option<bool>("with_mean"), .with_std = read.option<bool>("with_std")});
  const auto scale = read.array("scale", {-1});
  const auto column = [&](const char* name) { return read.array(name, scale.shape()); };
  scaler.learnt_ = Learnt{column("shift"), scale};
  scaler.seen_ = Seen{column("n_samples_seen"), column("mean"), column("var")};
  return scaler;
}

ModelState MinMaxScaler::state() const {
  const auto& [shift, scale, clip] = learnt("state");
  return {kind(),
          {{"low", text_of(options_.low)}, {"high", text_of(options_.high)}, {"clip", text_of(options_.clip)}},
          {{"shift", shift}, {"scale", scale}, {"data_min", range_->first}, {"data_max", range_->second}}};
}

MinMaxScaler MinMaxScaler::from_state(const ModelState& state) {
  const StateReader read("MinMaxScaler", state);
  const auto low = read.option<double>("low"), high = read.option<double>("high");
  if (!(low < high)) detail::raise<ValueError>(read.op(), "got the range {} .. {}; expected low < high", low, high);
  MinMaxScaler scaler({.low = low, .high = high, .clip = read.option<bool>("clip")});
  const auto scale = read.array("scale", {-1});
  const auto column = [&](const char* name) { return read.array(name, scale.shape()); };
  scaler.learnt_ =
      Learnt{column("shift"), scale, scaler.options_.clip ? std::optional(std::pair(low, high)) : std::nullopt};
  scaler.range_ = {column("data_min"), column("data_max")};
  return scaler;
}

ModelState MaxAbsScaler::state() const {
  const auto& [shift, scale, clip] = learnt("state");
  return {kind(), {}, {{"shift", shift}, {"scale", scale}, {"max_abs", *largest_}}};
}

MaxAbsScaler MaxAbsScaler::from_state(const ModelState& state) {
  const StateReader read("MaxAbsScaler", state);
  MaxAbsScaler scaler;
  const auto scale = read.array("scale", {-1});
  scaler.learnt_ = Learnt{read.array("shift", scale.shape()), scale};
  scaler.largest_ = read.array("max_abs", scale.shape());
  return scaler;
}

ModelState RobustScaler::state() const {
  const auto& [shift, scale, clip] = learnt("state");
  return {kind(),
          {{"with_centering", text_of(options_.with_centering)},
           {"with_scaling", text_of(options_.with_scaling)},
           {"quantile_low", text_of(options_.quantile_range.first)},
           {"quantile_high", text_of(options_.quantile_range.second)},
           {"unit_variance", text_of(options_.unit_variance)}},
          {{"shift", shift}, {"scale", scale}}};
}

RobustScaler RobustScaler::from_state(const ModelState& state) {
  const StateReader read("RobustScaler", state);
  RobustScaler scaler({.with_centering = read.option<bool>("with_centering"),
                       .with_scaling = read.option<bool>("with_scaling"),
                       .quantile_range = {read.option<double>("quantile_low"), read.option<double>("quantile_high")},
                       .unit_variance = read.option<bool>("unit_variance")});
  const auto scale = read.array("scale", {-1});
  scaler.learnt_ = Learnt{read.array("shift", scale.shape()), scale};
  return scaler;
}

}  // namespace heatpp

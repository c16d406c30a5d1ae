#include <heatpp/ml/detail/options/preprocessing.hpp>

namespace heatpp {

using namespace ml::detail;

ModelState StandardScaler::state() const {
  const auto& [shift, scale, clip] = fitted_state("state");
  return {
      kind(),
      texts_of(options_),
      {{"shift", shift}, {"scale", scale}, {"mean", seen_->mean}, {"var", seen_->var}, {"n_samples_seen", seen_->n}}};
}

StandardScaler StandardScaler::from_state(const ModelState& state) {
  const StateReader read("StandardScaler", state);
  StandardScaler scaler(options_from<StandardScalerOptions>(read));
  const auto scale = read.array("scale", {-1});
  const auto column = [&](const char* name) { return read.array(name, scale.shape()); };
  scaler.fitted_ = Fitted{column("shift"), scale};
  scaler.seen_ = Seen{column("n_samples_seen"), column("mean"), column("var")};
  return scaler;
}

ModelState MinMaxScaler::state() const {
  const auto& [shift, scale, clip] = fitted_state("state");
  return {kind(),
          texts_of(options_),
          {{"shift", shift}, {"scale", scale}, {"data_min", range_->first}, {"data_max", range_->second}}};
}

MinMaxScaler MinMaxScaler::from_state(const ModelState& state) {
  const StateReader read("MinMaxScaler", state);
  const auto options = options_from<MinMaxScalerOptions>(read);
  const auto [low, high, clip] = options;
  if (!(low < high)) detail::raise<ValueError>(read.op(), "got the range {} .. {}; expected low < high", low, high);
  MinMaxScaler scaler(options);
  const auto scale = read.array("scale", {-1});
  const auto column = [&](const char* name) { return read.array(name, scale.shape()); };
  scaler.fitted_ = Fitted{column("shift"), scale, clip ? std::optional(std::pair(low, high)) : std::nullopt};
  scaler.range_ = {column("data_min"), column("data_max")};
  return scaler;
}

ModelState MaxAbsScaler::state() const {
  const auto& [shift, scale, clip] = fitted_state("state");
  return {kind(), {}, {{"shift", shift}, {"scale", scale}, {"max_abs", *largest_}}};
}

MaxAbsScaler MaxAbsScaler::from_state(const ModelState& state) {
  const StateReader read("MaxAbsScaler", state);
  MaxAbsScaler scaler;
  const auto scale = read.array("scale", {-1});
  scaler.fitted_ = Fitted{read.array("shift", scale.shape()), scale};
  scaler.largest_ = read.array("max_abs", scale.shape());
  return scaler;
}

ModelState RobustScaler::state() const {
  const auto& [shift, scale, clip] = fitted_state("state");
  return {kind(), texts_of(options_), {{"shift", shift}, {"scale", scale}}};
}

RobustScaler RobustScaler::from_state(const ModelState& state) {
  const StateReader read("RobustScaler", state);
  auto options = options_from<RobustScalerOptions>(read, {"quantile_range"});
  if (!read.has_option("quantile_range"))  // older states have its ends
    options.quantile_range = {read.option<double>("quantile_low"), read.option<double>("quantile_high")};
  RobustScaler scaler(options);
  const auto scale = read.array("scale", {-1});
  scaler.fitted_ = Fitted{read.array("shift", scale.shape()), scale};
  return scaler;
}

}  // namespace heatpp

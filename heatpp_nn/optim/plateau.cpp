#include <heatpp_nn/optim/plateau.hpp>

#include <cmath>

namespace heatpp::nn {

bool DetectMetricPlateau::is_better(double value) const {
  if (std::isnan(value)) return false;
  if (std::isnan(state_.best)) return true;
  const double margin =
      options_.threshold * (options_.threshold_mode == ThresholdMode::relative ? std::abs(state_.best) : 1.0);
  return options_.mode == PlateauMode::min ? value < state_.best - margin : value > state_.best + margin;
}

bool DetectMetricPlateau::update(double value) {
  if (is_better(value)) {
    state_ = {value, 0};
    return false;
  }
  if (++state_.bad <= options_.patience) return false;
  state_.bad = 0;
  return true;
}

}  // namespace heatpp::nn

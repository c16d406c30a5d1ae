#include <heatpp_nn/parallel/daso.hpp>

// How a DASO leaves ranks that have ended.
namespace heatpp::nn {

DasoState DASO::abandon() {
  global_.reset();
  attends_ = left_out_ = shares_differ_ = false;
  averaged_ = 0;
  auto state = state_;
  state.plateau = detector_.state();
  if (options_.scaler) state.scaler = options_.scaler->state();
  state.sync.flight.reset();
  return state;
}

}  // namespace heatpp::nn

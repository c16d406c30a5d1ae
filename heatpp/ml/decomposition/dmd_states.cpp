#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/detail/dynamics.hpp>
#include <heatpp/ml/detail/options/decomposition.hpp>

namespace heatpp {

using namespace ml::detail;

ModelState DMD::state() const {
  check_snapshots("DMD.state", snapshots_);
  ModelState state{"DMD", texts_of(options_), {}};
  snapshots_->write(state);
  return state;
}

DMD DMD::from_state(const ModelState& state) {
  const StateReader read("DMD", state);
  DMD model(options_from<DmdOptions>(read));
  check_options(read.op(), model.options_);
  model.snapshots_ = std::make_shared<const Snapshots>(read);
  return model;
}

ModelState DMDc::state() const {
  check_snapshots("DMDc.state", snapshots_);
  ModelState state{"DMDc", texts_of(options_), {{"controls", *controls_}}};
  snapshots_->write(state);
  return state;
}

DMDc DMDc::from_state(const ModelState& state) {
  const StateReader read("DMDc", state);
  DMDc model(options_from<DmdcOptions>(read));
  check_options(read.op(), {model.options_.rank, model.options_.rtol, model.options_.dt, model.options_.modes});
  model.snapshots_ = std::make_shared<const Snapshots>(read);
  model.controls_ = read.array("controls", {-1, -1}).astype(float64);
  const auto steps = model.controls_->shape()[1], count = model.snapshots_->count();
  if (steps != count && steps != count - 1)
    detail::raise<ValueError>(read.op(), "got controls of {} steps beside {} snapshots; expected as many, or one less",
                              steps, count);
  return model;
}

}  // namespace heatpp

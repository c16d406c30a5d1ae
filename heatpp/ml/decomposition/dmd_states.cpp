#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/detail/dynamics.hpp>
#include <heatpp/ml/decomposition/dmdc.hpp>
#include <heatpp/ml/detail/state.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

constexpr std::array modes_names{"exact", "projected"};

/// Writes the options that DMD and DMDc share; rank 0 stands for no rank.
template <class Options>
std::map<std::string, std::string> texts_of(const Options& o) {
  return {{"rank", text_of(o.rank.value_or(0))},
          {"rtol", text_of(o.rtol)},
          {"dt", text_of(o.dt)},
          {"modes", modes_names[static_cast<std::size_t>(o.modes)]}};
}

std::optional<std::int64_t> rank_of(const StateReader& read, const char* name) {
  const auto rank = read.option<std::int64_t>(name);
  return rank > 0 ? std::optional(rank) : std::nullopt;
}

template <class Options>
Options options_of(const StateReader& read) {
  Options o;
  o.rank = rank_of(read, "rank");
  o.rtol = read.option<double>("rtol");
  o.dt = read.option<double>("dt");
  o.modes = read.choice<DmdModes>("modes", modes_names);
  return o;
}

}  // namespace

ModelState DMD::state() const {
  check_snapshots("DMD.state", snapshots_);
  ModelState state{"DMD", texts_of(options_), {}};
  snapshots_->write(state);
  return state;
}

DMD DMD::from_state(const ModelState& state) {
  const StateReader read("DMD", state);
  DMD model(options_of<DmdOptions>(read));
  check_options(read.op(), model.options_);
  model.snapshots_ = std::make_shared<const Snapshots>(read);
  return model;
}

ModelState DMDc::state() const {
  check_snapshots("DMDc.state", snapshots_);
  ModelState state{"DMDc", texts_of(options_), {{"controls", *controls_}}};
  state.options["system_rank"] = text_of(options_.system_rank.value_or(0));
  snapshots_->write(state);
  return state;
}

DMDc DMDc::from_state(const ModelState& state) {
  const StateReader read("DMDc", state);
  DMDc model(options_of<DmdcOptions>(read));
  model.options_.system_rank = rank_of(read, "system_rank");
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

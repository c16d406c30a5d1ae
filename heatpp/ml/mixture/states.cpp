#include <heatpp/ml/detail/options/mixture.hpp>
#include <heatpp/ml/mixture/detail/components.hpp>

namespace heatpp {
using namespace ml::detail;

ModelState GaussianMixture::state() const {
  const auto& found = fitted_state("GaussianMixture.state");
  const auto& o = options_;
  ModelState state{"GaussianMixture",
                   texts_of(o),
                   {{"weights", found.weights}, {"means", found.means}, {"covariances", found.covariances}}};
  state.options.insert({{"lower_bound", text_of(found.lower_bound)},
                        {"converged", text_of(found.converged)},
                        {"iterations", text_of(found.iterations)}});
  for (const auto& [name, given] : {std::pair("weights_init", &o.weights_init),
                                    {"means_init", &o.means_init},
                                    {"precisions_init", &o.precisions_init}})
    if (*given) state.arrays.insert({name, (*given)->astype(float64)});
  return state;
}

GaussianMixture GaussianMixture::from_state(const ModelState& state) {
  const StateReader read("GaussianMixture", state);
  GaussianMixture model(options_from<GaussianMixtureOptions>(read));
  const auto k = model.options_.n_components;
  const auto means = read.array("means", {k, -1}).astype(float64);
  const auto type = model.options_.covariance_type;
  const auto covariances = read.array("covariances", covariance_shape(type, k, means.shape()[1])).astype(float64);
  static_cast<void>(factors_of(read.op(), type, covariances.larray()));
  const auto given = [&](const char* name, const Shape& shape) {
    return read.has_array(name) ? std::optional(read.array(name, shape)) : std::nullopt;
  };
  model.options_.weights_init = given("weights_init", {k});
  model.options_.means_init = given("means_init", means.shape());
  model.options_.precisions_init = given("precisions_init", covariances.shape());
  model.fitted_ = Fitted{read.array("weights", {k}).astype(float64),
                         means,
                         covariances,
                         read.option<double>("lower_bound"),
                         read.option<bool>("converged"),
                         read.option<std::int64_t>("iterations")};
  return model;
}

}  // namespace heatpp

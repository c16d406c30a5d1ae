#include <heatpp/ml/detail/state.hpp>
#include <heatpp/ml/mixture/detail/components.hpp>

#include <array>

namespace heatpp {
namespace {

constexpr std::array types{"full", "tied", "diag", "spherical"};
constexpr std::array inits{"kmeans", "plus_plus", "random"};

}  // namespace

using namespace ml::detail;

ModelState GaussianMixture::state() const {
  const auto& found = learnt("GaussianMixture.state");
  const auto& o = options_;
  ModelState state{"GaussianMixture",
                   {{"n_components", text_of(o.n_components)},
                    {"covariance_type", types[static_cast<std::size_t>(o.covariance_type)]},
                    {"init", inits[static_cast<std::size_t>(o.init)]},
                    {"n_init", text_of(o.n_init)},
                    {"max_iterations", text_of(o.max_iterations)},
                    {"tol", text_of(o.tol)},
                    {"reg_covar", text_of(o.reg_covar)},
                    {"seed", text_of(o.seed)},
                    {"warm_start", text_of(o.warm_start)},
                    {"lower_bound", text_of(found.lower_bound)},
                    {"converged", text_of(found.converged)},
                    {"iterations", text_of(found.iterations)}},
                   {{"weights", found.weights}, {"means", found.means}, {"covariances", found.covariances}}};
  for (const auto& [name, given] : {std::pair("weights_init", &o.weights_init),
                                    {"means_init", &o.means_init},
                                    {"precisions_init", &o.precisions_init}})
    if (*given) state.arrays.insert({name, (*given)->astype(float64)});
  return state;
}

GaussianMixture GaussianMixture::from_state(const ModelState& state) {
  const StateReader read("GaussianMixture", state);
  GaussianMixture model({.n_components = read.option<std::int64_t>("n_components"),
                         .covariance_type = read.choice<CovarianceType>("covariance_type", types),
                         .init = read.choice<MixtureInit>("init", inits),
                         .n_init = read.option<int>("n_init"),
                         .max_iterations = read.option<std::int64_t>("max_iterations"),
                         .tol = read.option<double>("tol"),
                         .reg_covar = read.option<double>("reg_covar"),
                         .seed = read.option<std::uint64_t>("seed"),
                         .warm_start = read.option<bool>("warm_start")});
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
  model.learnt_ = Learnt{read.array("weights", {k}).astype(float64),
                         means,
                         covariances,
                         read.option<double>("lower_bound"),
                         read.option<bool>("converged"),
                         read.option<std::int64_t>("iterations")};
  return model;
}

}  // namespace heatpp

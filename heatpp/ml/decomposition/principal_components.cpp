#include <heatpp/ml/decomposition/principal_components.hpp>

#include <heatpp/ml/decomposition/detail/affine.hpp>
#include <heatpp/ml/decomposition/detail/density.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/state.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

/// Returns the roots of the variances, each large enough to divide by in this dtype.
at::Tensor deviations(const DNDarray& variance) {
  return wide(variance).sqrt().clamp_min(variance.dtype() == float64 ? 2.220446049250313e-16 : 1.1920929e-07);
}

}  // namespace

DNDarray PrincipalComponents::transform(const Rows& x) const {
  const auto& l = fitted_state("transform");
  check_features(Method(kind_, "transform"), x, l.components.shape()[1]);
  auto matrix = wide(l.components).t();
  if (whiten_) matrix = matrix / deviations(l.variance);
  return moved(x, wide(l.mean), matrix, at::zeros({1}, at::kDouble));
}

DNDarray PrincipalComponents::inverse_transform(const Rows& z) const {
  const auto& l = fitted_state("inverse_transform");
  check_features(Method(kind_, "inverse_transform"), z, l.components.shape()[0]);
  auto matrix = wide(l.components);
  if (whiten_) matrix = matrix * deviations(l.variance).unsqueeze(1);
  return moved(z, at::zeros({1}, at::kDouble), matrix, wide(l.mean));
}

DNDarray PrincipalComponents::covariance() const {
  const auto& l = fitted_state("covariance");
  const auto v = wide(l.components), along = (wide(l.variance) - l.noise_variance).clamp_min(0);
  const auto whole = at::mm(v.t() * along, v) + l.noise_variance * at::eye(v.size(1), at::kDouble);
  return replicated(whole, l.components.dtype(), l.components.comm());
}

DNDarray PrincipalComponents::precision() const {
  const auto& l = fitted_state("precision");
  return replicated(Density(Method(kind_, "precision"), *this).precision(), l.components.dtype(), l.components.comm());
}

ModelState PrincipalComponents::state_of_components() const {
  const auto& l = fitted_state("state");
  return {kind_,
          {{"whiten", text_of(whiten_)},
           {"noise_variance", text_of(l.noise_variance)},
           {"n_samples", text_of(l.n_samples)}},
          {{"components", l.components},
           {"mean", l.mean},
           {"explained_variance", l.variance},
           {"explained_variance_ratio", l.ratio},
           {"singular_values", l.singular_values}}};
}

PrincipalComponents::Fitted PrincipalComponents::components_from(const StateReader& read) {
  const auto components = read.array("components", {-1, -1});
  const auto count = components.shape()[0];
  return {components,
          read.array("mean", {components.shape()[1]}),
          read.array("explained_variance", {count}),
          read.array("explained_variance_ratio", {count}),
          read.array("singular_values", {count}),
          read.option<double>("noise_variance"),
          read.option<std::int64_t>("n_samples")};
}

const PrincipalComponents::Fitted& PrincipalComponents::fitted_state(const char* what) const {
  return fitted(Method(kind_, what), fitted_);
}

const DNDarray& PrincipalComponents::components() const { return fitted_state("components").components; }
const DNDarray& PrincipalComponents::mean() const { return fitted_state("mean").mean; }
const DNDarray& PrincipalComponents::explained_variance() const { return fitted_state("explained_variance").variance; }
const DNDarray& PrincipalComponents::explained_variance_ratio() const {
  return fitted_state("explained_variance_ratio").ratio;
}
const DNDarray& PrincipalComponents::singular_values() const { return fitted_state("singular_values").singular_values; }
double PrincipalComponents::noise_variance() const { return fitted_state("noise_variance").noise_variance; }
std::int64_t PrincipalComponents::n_components() const { return fitted_state("n_components").components.shape()[0]; }
std::int64_t PrincipalComponents::n_samples() const { return fitted_state("n_samples").n_samples; }

}  // namespace heatpp

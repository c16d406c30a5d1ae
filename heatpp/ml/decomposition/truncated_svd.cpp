#include <heatpp/ml/decomposition/truncated_svd.hpp>

#include <heatpp/ml/decomposition/detail/affine.hpp>
#include <heatpp/ml/decomposition/detail/row_factor.hpp>
#include <heatpp/ml/decomposition/detail/singular.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/decomposition.hpp>

namespace heatpp {

using namespace ml::detail;

TruncatedSVD& TruncatedSVD::fit(const Rows& x) {
  check_agreed("TruncatedSVD.fit", x, options_);
  const auto found = singular("TruncatedSVD.fit", x, options_);
  const auto whole = [&](const at::Tensor& value) { return replicated(value, working_dtype(x), x.comm()); };
  const auto ratio = found.total > 0 ? found.variance / found.total : at::zeros_like(found.variance);
  fitted_ = Fitted{whole(with_signs(found.vectors)), whole(found.values), whole(found.variance), whole(ratio)};
  return *this;
}

DNDarray TruncatedSVD::transform(const Rows& x) const {
  const auto v = wide(fitted_state("transform").components);
  check_features("TruncatedSVD.transform", x, v.size(1));
  const auto none = at::zeros({1}, at::kDouble);
  return moved(x, none, v.t(), none);
}

DNDarray TruncatedSVD::inverse_transform(const Rows& z) const {
  const auto v = wide(fitted_state("inverse_transform").components);
  check_features("TruncatedSVD.inverse_transform", z, v.size(0));
  const auto none = at::zeros({1}, at::kDouble);
  return moved(z, none, v, none);
}

ModelState TruncatedSVD::state() const {
  const auto& l = fitted_state("state");
  return {"TruncatedSVD",
          texts_of(options_),
          {{"components", l.components},
           {"singular_values", l.singular_values},
           {"explained_variance", l.variance},
           {"explained_variance_ratio", l.ratio}}};
}

TruncatedSVD TruncatedSVD::from_state(const ModelState& state) {
  const StateReader read("TruncatedSVD", state);
  const auto components = read.array("components", {-1, -1});
  const auto count = components.shape()[0];
  auto options =
      options_from<TruncatedSvdOptions>(read, {"n_components", "solver", "oversamples", "power_iterations", "seed"});
  options.n_components = count;
  TruncatedSVD model(options);
  model.fitted_ = Fitted{components, read.array("singular_values", {count}), read.array("explained_variance", {count}),
                         read.array("explained_variance_ratio", {count})};
  return model;
}

const TruncatedSVD::Fitted& TruncatedSVD::fitted_state(const char* what) const {
  return fitted(Method("TruncatedSVD", what), fitted_);
}

const DNDarray& TruncatedSVD::components() const { return fitted_state("components").components; }
const DNDarray& TruncatedSVD::singular_values() const { return fitted_state("singular_values").singular_values; }
const DNDarray& TruncatedSVD::explained_variance() const { return fitted_state("explained_variance").variance; }
const DNDarray& TruncatedSVD::explained_variance_ratio() const {
  return fitted_state("explained_variance_ratio").ratio;
}

}  // namespace heatpp

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/options/linear.hpp>

namespace heatpp {

using namespace ml::detail;

ModelState LinearRegressor::plane_state(std::map<std::string, std::string> options) const {
  const auto& [coef, intercept, single, dtype] = fitted_state("state");
  options.insert({{"single", text_of(single)}, {"dtype", text_of(dtype)}});
  return {kind_, std::move(options), {{"coef", coef}, {"intercept", intercept}}};
}

FittedPlane LinearRegressor::plane_from(const StateReader& read) {
  const auto coef = read.array("coef", {-1, -1});
  const auto targets = coef.shape()[0];
  const bool single = read.option<bool>("single");
  if (single && targets != 1)
    detail::raise<ValueError>(read.op(), "got the coefficients of {} targets for a single one", targets);
  return {coef.astype(float64), read.array("intercept", {targets}).astype(float64), single,
          read.option<Dtype>("dtype")};
}

ModelState LinearRegression::state() const { return plane_state(texts_of(options_)); }

LinearRegression LinearRegression::from_state(const ModelState& state) {
  const StateReader read("LinearRegression", state);
  LinearRegression model(options_from<LinearRegressionOptions>(read));
  model.fitted_ = plane_from(read);
  return model;
}

ModelState Ridge::state() const { return plane_state(texts_of(options_)); }

Ridge Ridge::from_state(const ModelState& state) {
  const StateReader read("Ridge", state);
  Ridge model(options_from<RidgeOptions>(read));
  model.fitted_ = plane_from(read);
  return model;
}

ModelState ElasticNet::state() const {
  auto texts = texts_of(options_);
  texts.insert(
      {{"dual_gap", text_of(dual_gap_)}, {"iterations", text_of(iterations_)}, {"converged", text_of(converged_)}});
  return plane_state(std::move(texts));
}

void ElasticNet::read(const StateReader& read) {
  options_ = options_from<ElasticNetOptions>(read);
  fitted_ = plane_from(read);
  dual_gap_ = read.option<double>("dual_gap");
  iterations_ = read.option<std::int64_t>("iterations");
  converged_ = read.option<bool>("converged");
}

ElasticNet ElasticNet::from_state(const ModelState& state) {
  ElasticNet model;
  model.read({"ElasticNet", state});
  return model;
}

Lasso Lasso::from_state(const ModelState& state) {
  const StateReader read("Lasso", state);
  Lasso model;
  model.read(read);
  const auto ratio = static_cast<const ElasticNet&>(model).options().l1_ratio;
  if (ratio != 1) detail::raise<ValueError>(read.op(), "got l1_ratio {} of Lasso; expected 1", ratio);
  return model;
}

ModelState PoissonRegressor::state() const {
  auto texts = texts_of(options_);
  texts.insert({{"iterations", text_of(iterations_)}, {"converged", text_of(converged_)}});
  return plane_state(std::move(texts));
}

PoissonRegressor PoissonRegressor::from_state(const ModelState& state) {
  const StateReader read("PoissonRegressor", state);
  PoissonRegressor model(options_from<PoissonOptions>(read));
  model.fitted_ = plane_from(read);
  model.iterations_ = read.option<std::int64_t>("iterations");
  model.converged_ = read.option<bool>("converged");
  return model;
}

ModelState LogisticRegression::state() const {
  const auto& model = fitted_state("state");
  auto texts = texts_of(options_);
  texts.insert({{"dtype", text_of(model.dtype)},
                {"iterations", text_of(model.iterations)},
                {"converged", text_of(model.converged)}});
  return {
      kind(), std::move(texts), {{"coef", model.coef}, {"intercept", model.intercept}, {"classes", classes_->values}}};
}

LogisticRegression LogisticRegression::from_state(const ModelState& state) {
  const StateReader read("LogisticRegression", state);
  LogisticRegression model(options_from<LogisticOptions>(read));
  const auto coef = read.array("coef", {-1, -1});
  const auto outputs = coef.shape()[0];
  model.classes_ = Classes{read.whole_numbers("classes", {outputs == 1 ? 2 : outputs}), coef.shape()[1]};
  model.fitted_ =
      Fitted{coef.astype(float64), read.array("intercept", {outputs}).astype(float64), read.option<Dtype>("dtype"),
             read.option<std::int64_t>("iterations"), read.option<bool>("converged")};
  return model;
}

}  // namespace heatpp

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/state.hpp>
#include <heatpp/ml/linear/elastic_net.hpp>
#include <heatpp/ml/linear/logistic_regression.hpp>
#include <heatpp/ml/linear/poisson_regressor.hpp>
#include <heatpp/ml/linear/ridge.hpp>

namespace heatpp {

using namespace ml::detail;

ModelState LinearRegressor::plane_state(const char* kind, std::map<std::string, std::string> options) const {
  const auto& [coef, intercept, single, dtype] = learnt(kind);
  options.insert({{"single", text_of(single)}, {"dtype", text_of(dtype)}});
  return {kind, std::move(options), {{"coef", coef}, {"intercept", intercept}}};
}

LearntPlane LinearRegressor::plane_from(const StateReader& read) {
  const auto coef = read.array("coef", {-1, -1});
  const auto targets = coef.shape()[0];
  const bool single = read.option<bool>("single");
  if (single && targets != 1)
    detail::raise<ValueError>("from_state", "got the coefficients of {} targets for a single one", targets);
  return {coef.astype(float64), read.array("intercept", {targets}).astype(float64), single,
          read.option<Dtype>("dtype")};
}

ModelState LinearRegression::state() const {
  return plane_state("LinearRegression", {{"intercept", text_of(options_.intercept)}});
}

LinearRegression LinearRegression::from_state(const ModelState& state) {
  const StateReader read("LinearRegression", state);
  LinearRegression model({.intercept = read.option<bool>("intercept")});
  model.learnt_ = plane_from(read);
  return model;
}

ModelState Ridge::state() const {
  return plane_state("Ridge", {{"alpha", text_of(options_.alpha)}, {"intercept", text_of(options_.intercept)}});
}

Ridge Ridge::from_state(const ModelState& state) {
  const StateReader read("Ridge", state);
  Ridge model({.alpha = read.option<double>("alpha"), .intercept = read.option<bool>("intercept")});
  model.learnt_ = plane_from(read);
  return model;
}

ModelState ElasticNet::state() const {
  const auto& o = options_;
  return plane_state("ElasticNet", {{"alpha", text_of(o.alpha)},
                                    {"l1_ratio", text_of(o.l1_ratio)},
                                    {"intercept", text_of(o.intercept)},
                                    {"positive", text_of(o.positive)},
                                    {"warm_start", text_of(o.warm_start)},
                                    {"max_iterations", text_of(o.max_iterations)},
                                    {"tol", text_of(o.tol)},
                                    {"dual_gap", text_of(dual_gap_)},
                                    {"iterations", text_of(iterations_)}});
}

ElasticNet ElasticNet::from_state(const ModelState& state) {
  const StateReader read("ElasticNet", state);
  ElasticNet model({.alpha = read.option<double>("alpha"),
                    .l1_ratio = read.option<double>("l1_ratio"),
                    .intercept = read.option<bool>("intercept"),
                    .positive = read.option<bool>("positive"),
                    .warm_start = read.option<bool>("warm_start"),
                    .max_iterations = read.option<std::int64_t>("max_iterations"),
                    .tol = read.option<double>("tol")});
  model.learnt_ = plane_from(read);
  model.dual_gap_ = read.option<double>("dual_gap");
  model.iterations_ = read.option<std::int64_t>("iterations");
  return model;
}

ModelState Lasso::state() const {
  auto state = ElasticNet::state();
  state.kind = "Lasso";
  return state;
}

Lasso Lasso::from_state(const ModelState& state) {
  const StateReader read("Lasso", state);
  auto net = state;
  net.kind = "ElasticNet";
  Lasso model;
  static_cast<ElasticNet&>(model) = ElasticNet::from_state(net);
  if (model.options().l1_ratio != 1)
    detail::raise<ValueError>("from_state", "got l1_ratio {} of Lasso; expected 1", model.options().l1_ratio);
  return model;
}

ModelState PoissonRegressor::state() const {
  const auto& o = options_;
  return plane_state("PoissonRegressor", {{"alpha", text_of(o.alpha)},
                                          {"intercept", text_of(o.intercept)},
                                          {"warm_start", text_of(o.warm_start)},
                                          {"max_iterations", text_of(o.max_iterations)},
                                          {"tol", text_of(o.tol)},
                                          {"iterations", text_of(iterations_)}});
}

PoissonRegressor PoissonRegressor::from_state(const ModelState& state) {
  const StateReader read("PoissonRegressor", state);
  PoissonRegressor model({.alpha = read.option<double>("alpha"),
                          .intercept = read.option<bool>("intercept"),
                          .warm_start = read.option<bool>("warm_start"),
                          .max_iterations = read.option<std::int64_t>("max_iterations"),
                          .tol = read.option<double>("tol")});
  model.learnt_ = plane_from(read);
  model.iterations_ = read.option<std::int64_t>("iterations");
  return model;
}

ModelState LogisticRegression::state() const {
  check_fitted("LogisticRegression.state");
  const auto& o = options_;
  return {"LogisticRegression",
          {{"c", text_of(o.c)},
           {"l1_ratio", text_of(o.l1_ratio)},
           {"intercept", text_of(o.intercept)},
           {"warm_start", text_of(o.warm_start)},
           {"max_iterations", text_of(o.max_iterations)},
           {"tol", text_of(o.tol)},
           {"dtype", text_of(learnt_->dtype)},
           {"iterations", text_of(learnt_->iterations)}},
          {{"coef", learnt_->coef}, {"intercept", learnt_->intercept}, {"classes", classes_->values}}};
}

LogisticRegression LogisticRegression::from_state(const ModelState& state) {
  const StateReader read("LogisticRegression", state);
  LogisticRegression model({.c = read.option<double>("c"),
                            .l1_ratio = read.option<double>("l1_ratio"),
                            .intercept = read.option<bool>("intercept"),
                            .warm_start = read.option<bool>("warm_start"),
                            .max_iterations = read.option<std::int64_t>("max_iterations"),
                            .tol = read.option<double>("tol")});
  const auto coef = read.array("coef", {-1, -1});
  const auto outputs = coef.shape()[0];
  model.classes_ = Classes{read.whole_numbers("classes", {outputs == 1 ? 2 : outputs}), coef.shape()[1]};
  model.learnt_ = Learnt{coef.astype(float64), read.array("intercept", {outputs}).astype(float64),
                         read.option<Dtype>("dtype"), read.option<std::int64_t>("iterations")};
  return model;
}

}  // namespace heatpp

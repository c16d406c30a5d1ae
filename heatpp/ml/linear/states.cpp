#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/state.hpp>
#include <heatpp/ml/linear/elastic_net.hpp>
#include <heatpp/ml/linear/logistic_regression.hpp>
#include <heatpp/ml/linear/poisson_regressor.hpp>
#include <heatpp/ml/linear/ridge.hpp>

namespace heatpp {

using namespace ml::detail;

ModelState LinearRegressor::plane_state(std::map<std::string, std::string> options) const {
  const auto& [coef, intercept, single, dtype] = learnt("state");
  options.insert({{"single", text_of(single)}, {"dtype", text_of(dtype)}});
  return {kind_, std::move(options), {{"coef", coef}, {"intercept", intercept}}};
}

LearntPlane LinearRegressor::plane_from(const StateReader& read) {
  const auto coef = read.array("coef", {-1, -1});
  const auto targets = coef.shape()[0];
  const bool single = read.option<bool>("single");
  if (single && targets != 1)
    detail::raise<ValueError>(read.op(), "got the coefficients of {} targets for a single one", targets);
  return {coef.astype(float64), read.array("intercept", {targets}).astype(float64), single,
          read.option<Dtype>("dtype")};
}

ModelState LinearRegression::state() const { return plane_state({{"intercept", text_of(options_.intercept)}}); }

LinearRegression LinearRegression::from_state(const ModelState& state) {
  const StateReader read("LinearRegression", state);
  LinearRegression model({.intercept = read.option<bool>("intercept")});
  model.learnt_ = plane_from(read);
  return model;
}

ModelState Ridge::state() const {
  return plane_state({{"alpha", text_of(options_.alpha)}, {"intercept", text_of(options_.intercept)}});
}

Ridge Ridge::from_state(const ModelState& state) {
  const StateReader read("Ridge", state);
  Ridge model({.alpha = read.option<double>("alpha"), .intercept = read.option<bool>("intercept")});
  model.learnt_ = plane_from(read);
  return model;
}

ModelState ElasticNet::state() const {
  const auto& o = options_;
  return plane_state({{"alpha", text_of(o.alpha)},
                      {"l1_ratio", text_of(o.l1_ratio)},
                      {"intercept", text_of(o.intercept)},
                      {"positive", text_of(o.positive)},
                      {"warm_start", text_of(o.warm_start)},
                      {"max_iterations", text_of(o.max_iterations)},
                      {"tol", text_of(o.tol)},
                      {"dual_gap", text_of(dual_gap_)},
                      {"iterations", text_of(iterations_)},
                      {"converged", text_of(converged_)}});
}

void ElasticNet::read(const StateReader& read) {
  options_ = {.alpha = read.option<double>("alpha"),
              .l1_ratio = read.option<double>("l1_ratio"),
              .intercept = read.option<bool>("intercept"),
              .positive = read.option<bool>("positive"),
              .warm_start = read.option<bool>("warm_start"),
              .max_iterations = read.option<std::int64_t>("max_iterations"),
              .tol = read.option<double>("tol")};
  learnt_ = plane_from(read);
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
  const auto& o = options_;
  return plane_state({{"alpha", text_of(o.alpha)},
                      {"intercept", text_of(o.intercept)},
                      {"warm_start", text_of(o.warm_start)},
                      {"max_iterations", text_of(o.max_iterations)},
                      {"tol", text_of(o.tol)},
                      {"iterations", text_of(iterations_)},
                      {"converged", text_of(converged_)}});
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
  model.converged_ = read.option<bool>("converged");
  return model;
}

ModelState LogisticRegression::state() const {
  const auto& model = learnt("state");
  const auto& o = options_;
  return {kind(),
          {{"c", text_of(o.c)},
           {"l1_ratio", text_of(o.l1_ratio)},
           {"intercept", text_of(o.intercept)},
           {"warm_start", text_of(o.warm_start)},
           {"max_iterations", text_of(o.max_iterations)},
           {"tol", text_of(o.tol)},
           {"class_weight", text_of(o.class_weight)},
           {"dtype", text_of(model.dtype)},
           {"iterations", text_of(model.iterations)},
           {"converged", text_of(model.converged)}},
          {{"coef", model.coef}, {"intercept", model.intercept}, {"classes", classes_->values}}};
}

LogisticRegression LogisticRegression::from_state(const ModelState& state) {
  const StateReader read("LogisticRegression", state);
  LogisticRegression model({.c = read.option<double>("c"),
                            .l1_ratio = read.option<double>("l1_ratio"),
                            .intercept = read.option<bool>("intercept"),
                            .warm_start = read.option<bool>("warm_start"),
                            .max_iterations = read.option<std::int64_t>("max_iterations"),
                            .tol = read.option<double>("tol"),
                            .class_weight = class_weights_from(read.op(), read.text("class_weight"))});
  const auto coef = read.array("coef", {-1, -1});
  const auto outputs = coef.shape()[0];
  model.classes_ = Classes{read.whole_numbers("classes", {outputs == 1 ? 2 : outputs}), coef.shape()[1]};
  model.learnt_ =
      Learnt{coef.astype(float64), read.array("intercept", {outputs}).astype(float64), read.option<Dtype>("dtype"),
             read.option<std::int64_t>("iterations"), read.option<bool>("converged")};
  return model;
}

}  // namespace heatpp

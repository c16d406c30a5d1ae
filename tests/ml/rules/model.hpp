#pragma once

#include "../../io/files.hpp"
#include "estimators.hpp"

#include <heatpp/ml/estimator.hpp>
#include <heatpp_io/safetensors/model.hpp>

// A Model of a class, with the methods that the class has.

// clang-format off
#define ROW_METHODS(f) \
  f(predict) f(predict_proba) f(predict_log_proba) f(decision_function) f(score_samples) f(transform)
#define ROW_CALLS(f) ROW_METHODS(f) f(inverse_transform) f(kneighbors) f(radius_neighbors) f(score) f(aic) f(bic)
#define FITTED(f) \
  f(amplitudes) f(basis) f(best_model) f(best_point) f(best_score) f(categories) f(center) f(centers) f(class_count) \
  f(class_log_prior) f(class_prior) f(classes) f(coef) f(components) f(control) f(converged) f(core_indices) \
  f(counts) f(covariance) f(covariances) f(data_max) f(data_min) f(depth) f(dual_gap) f(eigenvalues) f(eigenvectors) \
  f(embedding) f(epsilon) f(explained_variance) f(explained_variance_ratio) f(factors) f(feature_count) \
  f(feature_importances) f(feature_log_prob) f(inertia) f(intercept) f(iterations) f(kneighbors) f(labels) f(leaves) \
  f(lower_bound) f(max_abs) f(mean) f(means) f(modes) f(n_clusters) f(n_components) f(n_lists) f(n_modes) f(n_samples) \
  f(n_samples_seen) f(n_system_modes) f(noise_variance) f(precision) f(precisions) f(priors) f(quantiles) f(rates) \
  f(reconstruct) f(reconstruction_error) f(results) f(rows) f(scale) f(scalings) f(singular_values) f(size) f(state) \
  f(statistics) f(theta) f(transfer) f(var) f(weights) f(xbar)
// clang-format on

template <class M>
class Of final : public Model {
 public:
  explicit Of(M model) : model_(std::move(model)) {}

  void fit(const Given& given) override {
    const ht::FitOptions options{.sample_weight = given.weights};
    if constexpr (supervised && weighted) model_.fit(given.rows, given.targets.value(), options);
    else if constexpr (supervised) model_.fit(given.rows, given.targets.value());
    else if constexpr (weighted) model_.fit(given.rows, options);
    else model_.fit(given.rows);
  }

  [[nodiscard]] std::vector<Result> of(const ht::DNDarray& x) const override {
    std::vector<Result> results;
#define RESULT(name) \
  if constexpr (requires(const M& m) { m.name(x); }) results.push_back({#name, gathered(model_.name(x))});
    ROW_METHODS(RESULT)
#undef RESULT
    if constexpr (requires(const M& m) { m.kneighbors(x).distances; }) {
      const auto found = model_.kneighbors(x);
      results.push_back({"kneighbors", gathered(found.distances)});
      results.push_back({"kneighbors", gathered(found.indices)});
    }
    if constexpr (requires(const M& m) { m.labels(); })
      if (results.empty()) results.push_back({"labels", gathered(model_.labels())});
    return results;
  }

  [[nodiscard]] std::vector<Call> calls() const override {
    std::vector<Call> calls;
    const auto add = [&](const char* method, bool takes_rows, auto f) {
      calls.push_back({method, takes_rows, [f](const Model& model, const ht::DNDarray& x, const ht::DNDarray& y) {
                         f(dynamic_cast<const Of&>(model).model_, x, y);
                       }});
    };
#define CALL(name)                                                                             \
  if constexpr (requires(const M& m, const ht::DNDarray& x) { m.name(x); })                    \
    add(#name, true, [](const M& m, const auto& x, const auto&) { std::ignore = m.name(x); }); \
  else if constexpr (requires(const M& m, const ht::DNDarray& x) { m.name(x, x); })            \
    add(#name, true, [](const M& m, const auto& x, const auto& y) { std::ignore = m.name(x, y); });
    ROW_CALLS(CALL)
#undef CALL
#define CALL(name)                                  \
  if constexpr (requires(const M& m) { m.name(); }) \
    add(#name, false, [](const M& m, const auto&, const auto&) { std::ignore = m.name(); });
    FITTED(CALL)
#undef CALL
    return calls;
  }

  [[nodiscard]] std::unique_ptr<Model> copy() const override { return std::make_unique<Of>(model_); }
  void assign(const Model& other) override { model_ = dynamic_cast<const Of&>(other).model_; }

  [[nodiscard]] std::unique_ptr<Model> there_and_back() const override {
    if constexpr (requires(const M& m) { M::from_state(m.state()); }) {
      const TempDir dir;
      ht::io::save_model(dir.path("model"), model_.state());
      return std::make_unique<Of>(M::from_state(ht::io::load_model(dir.path("model"))));
    } else {
      return nullptr;
    }
  }

  [[nodiscard]] std::unique_ptr<Model> of_older_state() const override {
    if constexpr (requires(const M& m) { M::from_state(m.state()); }) {
      auto state = model_.state();
      const bool mixture = state.kind == "GaussianMixture";  // its states always had `converged`
      for (const char* later :
           {"converged", "class_weight", "loss", "quantile", "monotonic_cst", "categorical_features"})
        if (!mixture && state.options.erase(later) > 0 && later == std::string("loss"))
          state.options.insert({"poisson", "false"});
      const TempDir dir;
      ht::io::save_model(dir.path("model"), state);
      return std::make_unique<Of>(M::from_state(ht::io::load_model(dir.path("model"))));
    } else {
      return nullptr;
    }
  }

  [[nodiscard]] bool takes_weights() const override { return weighted; }

 private:
  static constexpr bool supervised = requires(M m, const ht::DNDarray& x) { m.fit(x, x); };
  static constexpr bool weighted = requires(M m, const ht::DNDarray& x, const ht::FitOptions& o) { m.fit(x, x, o); }
  || requires(M m, const ht::DNDarray& x, const ht::FitOptions& o) { m.fit(x, o); };
  M model_;
};

#pragma once

#include <heatpp/ml/linear/linear_regressor.hpp>

// Sparse least squares: minimizes sum of weight (y - prediction)^2 / (2 sum of weight) + alpha (l1_ratio |coef|_1 + (1
// - l1_ratio) |coef|^2 / 2), by the rules of scikit-learn.
namespace heatpp {

struct ElasticNetOptions {
  double alpha = 1;
  double l1_ratio = 0.5;               ///< 1: Lasso
  bool intercept = true;               ///< without a penalty
  bool positive = false;               ///< no coefficient below 0
  bool warm_start = false;             ///< start from the fitted coefficients, if there are any
  std::int64_t max_iterations = 1000;  ///< sweeps over the coefficients
  double tol = 1e-4;  ///< ends if the duality gap is at most this times the mean square of y - mean y; 0: never
};

/// Coordinate descent on the products of all columns, which one pass computes; sweeps need no pass and no message.
class ElasticNet : public LinearRegressor {
 public:
  explicit ElasticNet(const ElasticNetOptions& options = {}) : ElasticNet("ElasticNet", options) {}
  [[nodiscard]] const ElasticNetOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) or (samples, targets) numbers, each target separately. Collective:
  /// one all-reduce of 8 (c + c (c + 1) / 2 + 3) bytes with c = features + targets, and with weights one of 24; none if
  /// rows are replicated. Throws ValueError for numbers that are not finite, no rows or features, targets of another
  /// shape, weights and options out of range.
  ElasticNet& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Returns a bound for objective minus minimum, the largest over targets. Throws NotFittedError before fit.
  [[nodiscard]] double dual_gap() const;
  /// Returns the largest number of sweeps over targets. Throws NotFittedError before fit.
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< false if max_iterations ended the fit, which the log warns of
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static ElasticNet from_state(const ModelState& state);

 protected:
  ElasticNet(const char* kind, const ElasticNetOptions& options) : LinearRegressor(kind), options_(options) {}
  void read(const ml::detail::StateReader& read);

 private:
  ElasticNetOptions options_;
  double dual_gap_ = 0;
  std::int64_t iterations_ = 0;
  bool converged_ = false;
};

struct LassoOptions {
  double alpha = 1;  ///< HeAT's lam
  bool intercept = true, positive = false, warm_start = false;
  std::int64_t max_iterations = 1000;
  double tol = 1e-4;
};
/// The elastic net with l1_ratio 1. Columns may have any scale; no column of ones is needed.
class Lasso : public ElasticNet {
 public:
  explicit Lasso(const LassoOptions& o = {})
      : ElasticNet("Lasso", {o.alpha, 1, o.intercept, o.positive, o.warm_start, o.max_iterations, o.tol}) {}
  [[nodiscard]] LassoOptions options() const {
    const auto& o = ElasticNet::options();
    return {o.alpha, o.intercept, o.positive, o.warm_start, o.max_iterations, o.tol};
  }
  Lasso& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {}) {
    ElasticNet::fit(x, y, options);
    return *this;
  }
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static Lasso from_state(const ModelState& state);
};

struct PathOptions {
  double l1_ratio = 1;              ///< more than 0
  std::vector<double> alphas = {};  ///< any; empty: n_alphas from the least that makes all coefs 0, to eps times it
  std::int64_t n_alphas = 100;
  double eps = 1e-3;
  bool intercept = true, positive = false;
  std::int64_t max_iterations = 1000;
  double tol = 1e-4;
  std::optional<DNDarray> sample_weight = std::nullopt;
};
/// The coefficients for each alpha, the largest first: float64, on every rank.
struct LinearPath {
  DNDarray alphas;      ///< (alphas,)
  DNDarray coefs;       ///< (features, alphas)
  DNDarray intercepts;  ///< (alphas,)
  DNDarray dual_gaps;   ///< (alphas,)
};
/// Fits elastic nets for many alphas, each from the coefficients of the one before, with one pass and one all-reduce
/// for all. `y` is (samples,). Errors and communication as ElasticNet.
[[nodiscard]] LinearPath lasso_path(const Rows& x, const DNDarray& y, const PathOptions& options = {});

}  // namespace heatpp

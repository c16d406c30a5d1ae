#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// The first factors: from the first singular vectors (Boutsidis, Gallopoulos: SVD based initialization, 2008), with
/// zeros replaced by the mean of all numbers (nndsvda) or kept (nndsvd), or random numbers.
enum class NmfInit { nndsvda, nndsvd, random };
/// The update of factors: one component after another to its optimum (Cichocki, Phan: Fast local algorithms for
/// large scale nonnegative matrix and tensor factorizations, 2009), or multiplicative (Lee, Seung 2001), where a 0
/// stays 0.
enum class NmfSolver { coordinate_descent, multiplicative };

struct NmfOptions {
  std::optional<std::int64_t> n_components = std::nullopt;  ///< nullopt: features
  std::optional<NmfInit> init =
      std::nullopt;  ///< nullopt: nndsvda, or random for more components than rows or features
  NmfSolver solver = NmfSolver::coordinate_descent;
  /// Coordinate descent ends if projected gradients are at most this part of those of the first iteration; the
  /// multiplicative solver ends if ten iterations reduce the error by less than this part of the first error.
  double tol = 1e-4;
  std::int64_t max_iterations = 200;
  double alpha_w = 0;                            ///< penalty of the coordinates W, times features
  std::optional<double> alpha_h = std::nullopt;  ///< penalty of the components H, times samples; nullopt: alpha_w
  double l1_ratio = 0;                           ///< part of the penalty for |.|_1; the rest is for |.|^2 / 2
  std::uint64_t seed = 0;                        ///< for random; equal factors for any number of ranks
  FitCallback progress = {};
};

/// Factors X = W H of rows, all without negative numbers. Minimizes |X - W H|^2 / 2 and penalties by the rules of
/// scikit-learn, in float64 for all dtypes. W is cut as the rows, H is on every rank.
class NMF {
 public:
  explicit NMF(const NmfOptions& options = {}) : options_(options) {}
  [[nodiscard]] const NmfOptions& options() const { return options_; }

  /// Fits to (samples, features) rows. Collective, for f features and k components, none if rows are replicated: one
  /// all-reduce of 24 bytes, one of 8 (k (k + f) + 3) for each iteration, which is one pass over the rows, and one of
  /// 16; to start from singular vectors those of TruncatedSVD and one of 8 (2 k + 1). Throws ValueError for options out
  /// of range, more components than rows or features with init nndsvd and nndsvda, and numbers that are negative or not
  /// finite.
  NMF& fit(const Rows& x) {
    static_cast<void>(fit_transform(x));
    return *this;
  }
  /// Does fit and returns the coordinates W (samples, components), split as the rows.
  DNDarray fit_transform(const Rows& x);
  /// Returns the coordinates w (samples, components) that minimize |x - w H|^2 / 2 and the penalty, split as the rows.
  /// Collective: one all-reduce of 24 bytes, and one of 8 for each iteration, or for ten of the multiplicative solver.
  /// Throws NotFittedError before fit, ValueError for another number of features, and as fit for numbers.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// Returns the rows (samples, features) that have these coordinates. Local for arrays.
  [[nodiscard]] DNDarray inverse_transform(const Rows& w) const;

  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static NMF from_state(const ModelState& state);

  // The fitted state. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& components() const;   ///< H (components, features), on every rank
  [[nodiscard]] double reconstruction_error() const;  ///< |X - W H|, Frobenius norm
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< false if max_iterations ended the fit, which the log warns of

 private:
  struct Fitted {
    DNDarray components;
    double error;
    std::int64_t iterations;
    bool converged;
  };
  [[nodiscard]] const Fitted& fitted_state(const char* what) const;

  NmfOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp

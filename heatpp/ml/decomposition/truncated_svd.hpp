#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// The solver. `gram`: from the products of columns, in one pass over the rows; values below 1e-8 of the largest are
/// lost. `full`: by orthogonal transformations, as accurate as the rows, in two passes. `randomized`: by random
/// projection, for many features. `automatic`: gram for up to 4096 features, else randomized; for sparse rows
/// linalg::svds, as accurate as the rows.
enum class SvdSolver { automatic, gram, full, randomized };

struct TruncatedSvdOptions {
  std::int64_t n_components = 2;
  SvdSolver solver = SvdSolver::automatic;
  std::int64_t oversamples = 10;  ///< of randomized: additional directions
  int power_iterations = 5;       ///< of randomized: each improves values that fall slowly
  std::uint64_t seed = 0;         ///< of randomized: equal components for any number of ranks
};

/// The largest singular values of rows that are not centered, in contrast to PCA: latent semantic analysis of counts.
/// In float64 for all dtypes; each component has a positive entry of largest absolute value. linalg::svd,
/// linalg::hsvd_rank and linalg::rsvd give the decomposition of an array with its left vectors.
class TruncatedSVD {
 public:
  explicit TruncatedSVD(const TruncatedSvdOptions& options = {}) : options_(options) {}
  [[nodiscard]] const TruncatedSvdOptions& options() const { return options_; }

  /// Fits to (samples, features) rows. Collective, for f features and k components; none if rows are replicated. gram:
  /// one all-reduce of 4 f (f + 3) + 24 bytes. The others: one of 24 (f + 1) and one of 8 (k + 1), and full an
  /// all-gather of 8 bytes and one of at most 8 f^2 bytes a rank, randomized 1 + power_iterations all-reduces of 8 (f
  /// (k + oversamples) + 1). Throws ValueError for fewer samples or features than components, and numbers that are not
  /// finite.
  TruncatedSVD& fit(const Rows& x);
  /// Returns the coordinates (samples, components) of the rows, split as they are. Local for arrays. Throws
  /// NotFittedError before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// Returns the rows (samples, features) that have the coordinates `z`. Local for arrays.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;

  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static TruncatedSVD from_state(const ModelState& state);

  // The fitted state, on every rank. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& components() const;       ///< (components, features), orthonormal rows
  [[nodiscard]] const DNDarray& singular_values() const;  ///< (components,), decreasing
  /// (components,), the variances of the coordinates, divided by samples; they may not fall.
  [[nodiscard]] const DNDarray& explained_variance() const;
  [[nodiscard]] const DNDarray& explained_variance_ratio() const;  ///< (components,), parts of that of all columns

 private:
  struct Fitted {
    DNDarray components, singular_values, variance, ratio;
  };
  [[nodiscard]] const Fitted& fitted_state(const char* what) const;

  TruncatedSvdOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp

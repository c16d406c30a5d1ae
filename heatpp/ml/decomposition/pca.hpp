#pragma once

#include <heatpp/ml/decomposition/principal_components.hpp>
#include <variant>

namespace heatpp {

/// The solver. `covariance`: eigenvectors of the covariance matrix, in one pass over the rows; values below 1e-8 of the
/// largest are lost. `full`: singular values of the centered rows by orthogonal transformations, as accurate as the
/// rows, in two passes. `randomized`: the first ones by random projection, for many features and few components.
/// `hierarchical`: as full, but each rank passes on only the important directions of its rows (HeAT's solver).
/// `automatic`: covariance for up to 4096 features; for more, randomized if fewer than a tenth of them are wanted, else
/// full.
enum class PcaSolver { automatic, covariance, full, randomized, hierarchical };

/// The likeliest number of components for normal rows (Minka: Automatic choice of dimensionality for PCA, 2000).
/// Requires at least as many rows as features, and gives fewer components than features.
struct MinkaMle {};

struct PcaOptions {
  /// The number; or the share of the variance in (0, 1) that the components exceed, not for randomized; or the
  /// likeliest number, for covariance and full; nullopt: min(samples, features).
  std::optional<std::variant<std::int64_t, double, MinkaMle>> n_components = std::nullopt;
  bool whiten = false;  ///< scale the components to variance 1
  PcaSolver solver = PcaSolver::automatic;
  std::int64_t oversamples = 10;  ///< additional directions of randomized and hierarchical
  int power_iterations = 4;       ///< of randomized: each improves values that fall slowly
  std::uint64_t seed = 0;         ///< of randomized: equal components for any number of ranks
};

/// Principal component analysis of rows, in float64 for all dtypes. Each component has a positive entry of largest
/// absolute value; results depend on the number of ranks only by rounding.
class PCA : public PrincipalComponents {
 public:
  explicit PCA(const PcaOptions& options = {}) : PrincipalComponents("PCA", options.whiten), options_(options) {}
  [[nodiscard]] const PcaOptions& options() const { return options_; }

  /// Fits to (samples, features) rows. Collective, for f features and k components; none if rows are
  /// replicated. covariance: one all-reduce of 4 f (f + 3) + 24 bytes. full: one of 24 (f + 1), an all-gather
  /// of 8 bytes and one of at most 8 f^2 bytes a rank; hierarchical: at most 8 (k + oversamples) f a rank.
  /// randomized: one of 24 (f + 1), and 1 + power_iterations of 8 (f (k + oversamples) + 1). Throws
  /// ValueError for fewer than two samples, fewer samples or features than components, and numbers that are
  /// not finite.
  PCA& fit(const Rows& x);
  /// Updates the model with more rows; the result is as if all rows came at once. Keeps the products of columns,
  /// features^2 numbers. Collective: as fit with covariance. Throws ValueError as fit, for other solvers, and for a
  /// model that fit has fitted before.
  PCA& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// Returns the logarithm of the probability density of each row (samples,). Components that are not kept have the
  /// noise variance (Tipping, Bishop: Probabilistic principal component analysis, 1999). Local for arrays. Throws
  /// ValueError if the covariance has no inverse.
  [[nodiscard]] DNDarray score_samples(const Rows& x) const;
  /// Returns the mean of score_samples. Collective: one all-reduce of 16 bytes.
  [[nodiscard]] double score(const Rows& x) const;

  /// Returns the state that save_model writes, and the sums of partial_fit. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static PCA from_state(const ModelState& state);

 private:
  /// The sums over all rows of partial_fit, float64.
  struct Sums {
    DNDarray mean, scatter;
    std::int64_t n_samples;
  };
  struct Spectrum;
  void learn(const Rows& x, const Spectrum& found);
  [[nodiscard]] PcaSolver solver_for(const Rows& x) const;
  [[nodiscard]] Spectrum spectrum_of(const Rows& x) const;

  PcaOptions options_;
  std::optional<Sums> sums_;
};

}  // namespace heatpp

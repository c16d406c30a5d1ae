#pragma once

#include <heatpp/ml/decomposition/principal_components.hpp>
#include <variant>

namespace heatpp {

/// How the components are found. `covariance`: eigenvectors of the covariance matrix, in one pass over the rows; values
/// below 1e-8 of the largest are lost. `full`: singular values of the centred rows by orthogonal transformations, as
/// accurate as the rows, in two passes. `randomized`: the first ones by random projection, for many features and few
/// components. `hierarchical`: as full, but each rank hands on only what matters of its rows (HeAT's solver).
/// `automatic`: covariance for up to 4096 features; beyond, randomized where fewer than a tenth of them are wanted,
/// else full.
enum class PcaSolver { automatic, covariance, full, randomized, hierarchical };

/// As many components as are the likeliest for normal rows (Minka: Automatic choice of dimensionality for PCA, 2000):
/// at least as many rows as features, and fewer components than these.
struct MinkaMle {};

struct PcaOptions {
  /// How many; or so many that they have more than this share of the variance, in (0, 1), which the randomized solver
  /// does not know; or the likeliest number, of covariance and full; nullopt: min(samples, features).
  std::optional<std::variant<std::int64_t, double, MinkaMle>> n_components = std::nullopt;
  bool whiten = false;  ///< scale the components to variance 1
  PcaSolver solver = PcaSolver::automatic;
  std::int64_t oversamples = 10;  ///< directions beyond the components, of randomized and hierarchical
  int power_iterations = 4;       ///< of randomized: each sharpens the values that fall slowly
  std::uint64_t seed = 0;         ///< of randomized: the same components for any number of ranks
};

/// Principal component analysis of the rows of a matrix, in float64 whatever the rows are. Components are signed so
/// that their largest entry is positive; results do not depend on the number of ranks beyond rounding.
class PCA : public PrincipalComponents {
 public:
  explicit PCA(const PcaOptions& options = {}) : PrincipalComponents("PCA", options.whiten), options_(options) {}
  [[nodiscard]] const PcaOptions& options() const { return options_; }

  /// Learns from (samples, features) rows. Collective, for f features and k components; nothing where rows are
  /// replicated. covariance: one all-reduce of 4 f (f + 3) + 24 bytes. full: one of 24 (f + 1), an all-gather of 8
  /// bytes and one of at most 8 f^2 bytes a rank; hierarchical: at most 8 (k + oversamples) f a rank. randomized: one
  /// of 24 (f
  /// + 1), and 1 + power_iterations of 8 (f (k + oversamples) + 1). Throws ValueError for fewer than two samples, fewer
  /// samples or features than components, and numbers that are not finite.
  PCA& fit(const Rows& x);
  /// Learns from these rows, too, as if all had been there at once; their products are kept, features^2 numbers.
  /// Collective: as fit by covariance. Throws ValueError as fit, for other solvers, and for a model that was fitted
  /// otherwise before.
  PCA& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// The logarithm of the probability density of each row (samples,), where the components that are not kept have the
  /// noise variance (Tipping, Bishop: Probabilistic principal component analysis, 1999). Local for arrays. Throws
  /// ValueError where the covariance has no inverse.
  [[nodiscard]] DNDarray score_samples(const Rows& x) const;
  /// The mean of score_samples. Collective: one all-reduce of 16 bytes.
  [[nodiscard]] double score(const Rows& x) const;

  /// What save_model writes of it, with the products of partial_fit. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static PCA from_state(const ModelState& state);

 private:
  /// Of all rows of partial_fit, float64.
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

#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// The constraint on covariances of components: none (full), all equal (tied), only variances of each feature (diag),
/// or one variance (spherical).
enum class CovarianceType { full, tied, diag, spherical };

/// The first components: clusters of k-means, or the rows nearest to drawn rows, which are drawn as for k-means++ or
/// with equal probabilities. Given means replace drawn rows.
enum class MixtureInit { kmeans, plus_plus, random };

struct GaussianMixtureOptions {
  std::int64_t n_components = 1;
  CovarianceType covariance_type = CovarianceType::full;
  MixtureInit init = MixtureInit::kmeans;
  std::optional<DNDarray> weights_init = std::nullopt;  ///< first weights (components,), which sum to 1
  std::optional<DNDarray> means_init = std::nullopt;    ///< first means (components, features)
  /// First inverses of covariances: full (components, features, features), tied (features, features), diag (components,
  /// features), spherical (components,).
  std::optional<DNDarray> precisions_init = std::nullopt;
  int n_init = 1;                     ///< starts; the first one with the largest bound, up to rounding, is kept
  std::int64_t max_iterations = 100;  ///< of each start
  double tol = 1e-3;                  ///< converged if the mean log-likelihood of a row changes by less
  double reg_covar = 1e-6;            ///< added to all variances
  std::uint64_t seed = 0;             ///< gives the same components for any number of ranks
  bool warm_start = false;            ///< fit starts from the fitted components
  FitCallback progress = {};          ///< its objective is minus the mean log-likelihood
};

struct MixtureSampleOptions {
  std::uint64_t seed = 0;                           ///< gives the same rows for any number of ranks
  std::optional<int> split = 0;                     ///< 0, or none
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};
/// Random rows of a mixture, and the component of each.
struct MixtureSample {
  DNDarray rows;    ///< (n, features), float64
  DNDarray labels;  ///< (n,), int64
};

/// A mixture of normal distributions by expectation maximization (Dempster, Laird, Rubin 1977), with the rules of
/// scikit-learn. Each iteration is one pass over the rows: log-densities use differences from means and Cholesky
/// factors of the precisions, sums use deviations from the previous means, and a row's shares exist only while its
/// piece is in the cache. All in float64 for all dtypes, so that rows far from 0 keep their accuracy.
class GaussianMixture {
 public:
  explicit GaussianMixture(const GaussianMixtureOptions& options = {}) : options_(options) {}
  [[nodiscard]] const GaussianMixtureOptions& options() const { return options_; }

  /// Fits to (samples, features) rows, weighted if asked. Collective: one all-reduce of 24 (features + 1) bytes; those
  /// of k-means for its start; one of 8 (k s + 3) for the first components and for each iteration; none if rows are
  /// replicated. s is 1 + f + f (f + 1) / 2 for full covariances, 1 + 2 f for diag and spherical, and 1 + f for tied.
  /// For tied, the first all-reduce has 8 (3 + f + f (f + 1) / 2) bytes instead. Throws ValueError for fewer rows than
  /// components, numbers that are not finite, options out of range, and components whose covariance is singular.
  GaussianMixture& fit(const Rows& x, const FitOptions& options = {});
  /// Returns the most likely component of each row, the lowest one for ties: int64 of shape (samples,), split as the
  /// rows. Collective: one all-reduce of 16 bytes. Throws NotFittedError before fit, ValueError for numbers that are
  /// not finite and for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) {
    return fit(x, options).predict(x);
  }
  /// Return the share of each component in each row, (samples, components), and the log-likelihood of each row,
  /// (samples,), in float64, split as the rows. Collective and errors as predict.
  [[nodiscard]] DNDarray predict_proba(const Rows& x) const;
  [[nodiscard]] DNDarray score_samples(const Rows& x) const;
  /// Return the mean log-likelihood of the rows, and the criteria of Akaike (1974) and Schwarz (1978); the least
  /// criterion is best. Collective: one all-reduce of 16 bytes. Errors as predict.
  [[nodiscard]] double score(const Rows& x) const;
  [[nodiscard]] double aic(const Rows& x) const;
  [[nodiscard]] double bic(const Rows& x) const;
  /// Draws rows from the mixture, in random order. Local. Throws NotFittedError before fit, ValueError for a negative
  /// count or another split than 0.
  [[nodiscard]] MixtureSample sample(std::int64_t count, const MixtureSampleOptions& options = {}) const;

  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static GaussianMixture from_state(const ModelState& state);

  // The fitted state, float64 on every rank. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& weights() const;      ///< (components,)
  [[nodiscard]] const DNDarray& means() const;        ///< (components, features)
  [[nodiscard]] const DNDarray& covariances() const;  ///< shaped as precisions_init
  [[nodiscard]] DNDarray precisions() const;          ///< inverses of the covariances
  [[nodiscard]] double lower_bound() const;           ///< the mean log-likelihood of a row in the last iteration
  [[nodiscard]] bool converged() const;
  [[nodiscard]] std::int64_t iterations() const;

 private:
  struct Fitted {
    DNDarray weights, means, covariances;
    double lower_bound;
    bool converged;
    std::int64_t iterations;
  };
  [[nodiscard]] const Fitted& fitted_state(const char* op) const;
  [[nodiscard]] const Fitted& fitted_state_for(const char* op, const Rows& x) const;
  [[nodiscard]] double log_likelihood(const char* op, const Rows& x) const;

  GaussianMixtureOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// What the covariances of components share: nothing, all (tied), or their form: variances of each feature (diag), or
/// one variance (spherical).
enum class CovarianceType { full, tied, diag, spherical };

/// Where components start: at the clusters of k-means, or at rows, drawn as for k-means++ or each as likely, and the
/// rows that are nearest to them. Given means take the place of drawn rows.
enum class MixtureInit { kmeans, plus_plus, random };

struct GaussianMixtureOptions {
  std::int64_t n_components = 1;
  CovarianceType covariance_type = CovarianceType::full;
  MixtureInit init = MixtureInit::kmeans;
  std::optional<DNDarray> weights_init = std::nullopt;  ///< (components,), which sum to 1, to start from
  std::optional<DNDarray> means_init = std::nullopt;    ///< (components, features)
  /// Inverses of covariances: full (components, features, features), tied (features, features), diag (components,
  /// features), spherical (components,).
  std::optional<DNDarray> precisions_init = std::nullopt;
  int n_init = 1;                     ///< starts, of which the first with the largest bound counts, up to rounding
  std::int64_t max_iterations = 100;  ///< of each start
  double tol = 1e-3;                  ///< ends where the mean log-likelihood of a row changes by less
  double reg_covar = 1e-6;            ///< added to all variances
  std::uint64_t seed = 0;             ///< the same components for any number of ranks
  bool warm_start = false;            ///< fit goes on from what was learnt
  FitCallback progress = {};          ///< its objective is minus the mean log-likelihood
};

struct MixtureSampleOptions {
  std::uint64_t seed = 0;                           ///< the same rows for any number of ranks
  std::optional<int> split = 0;                     ///< 0, or none
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};
/// Rows that a mixture might have made, and the component of each.
struct MixtureSample {
  DNDarray rows;    ///< (n, features), float64
  DNDarray labels;  ///< (n,), int64
};

/// A mixture of normal distributions by expectation maximisation (Dempster, Laird, Rubin 1977), with scikit-learn's
/// rules. Each iteration is one pass over the rows: log-densities from the differences from means by Cholesky's factors
/// of the precisions, and sums of deviations from the means before; a row's shares of the components live as long as
/// its piece is in the cache. All in float64, whatever the rows are, so that rows far from 0 lose nothing.
class GaussianMixture {
 public:
  explicit GaussianMixture(const GaussianMixtureOptions& options = {}) : options_(options) {}
  [[nodiscard]] const GaussianMixtureOptions& options() const { return options_; }

  /// Learns from (samples, features) rows, weighted if asked. Collective: one all-reduce of 24 (features + 1) bytes;
  /// those of k-means for its start; one of 8 (k s + 3) for the first components and for each iteration, s = 1 + f + f
  /// (f + 1) / 2 numbers for full covariances, 1 + 2 f for diag and spherical, 1 + f for tied, which takes 8 (3 + f + f
  /// (f + 1) / 2) at first instead; none where rows are replicated. Throws ValueError for fewer rows than
  /// components, numbers that are not finite, options out of range, and components whose covariance is singular.
  GaussianMixture& fit(const Rows& x, const FitOptions& options = {});
  /// The most likely component of each row, of several as likely the lowest: int64 of shape (samples,), split as the
  /// rows. Collective: one all-reduce of 16 bytes. Throws NotFittedError before fit, ValueError for numbers that are
  /// not finite and for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  [[nodiscard]] DNDarray fit_predict(const Rows& x, const FitOptions& options = {}) {
    return fit(x, options).predict(x);
  }
  /// The share of each component in each row, (samples, components), and the log-likelihood of each row, (samples,), in
  /// float64, split as the rows. Collective and errors as predict.
  [[nodiscard]] DNDarray predict_proba(const Rows& x) const;
  [[nodiscard]] DNDarray score_samples(const Rows& x) const;
  /// The mean log-likelihood of the rows, and the criteria of Akaike (1974) and Schwarz (1978), of which the least is
  /// best. Collective: one all-reduce of 16 bytes. Errors as predict.
  [[nodiscard]] double score(const Rows& x) const;
  [[nodiscard]] double aic(const Rows& x) const;
  [[nodiscard]] double bic(const Rows& x) const;
  /// Rows that follow the mixture, in random order. Local. Throws NotFittedError before fit, ValueError for a negative
  /// count or another split than 0.
  [[nodiscard]] MixtureSample sample(std::int64_t count, const MixtureSampleOptions& options = {}) const;

  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static GaussianMixture from_state(const ModelState& state);

  // What was learnt, float64 on every rank. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& weights() const;      ///< (components,)
  [[nodiscard]] const DNDarray& means() const;        ///< (components, features)
  [[nodiscard]] const DNDarray& covariances() const;  ///< shaped as precisions_init
  [[nodiscard]] DNDarray precisions() const;          ///< their inverses
  [[nodiscard]] double lower_bound() const;           ///< the mean log-likelihood of a row in the last iteration
  [[nodiscard]] bool converged() const;
  [[nodiscard]] std::int64_t iterations() const;

 private:
  struct Learnt {
    DNDarray weights, means, covariances;
    double lower_bound;
    bool converged;
    std::int64_t iterations;
  };
  [[nodiscard]] const Learnt& learnt(const char* op) const;
  [[nodiscard]] const Learnt& learnt_for(const char* op, const Rows& x) const;
  [[nodiscard]] double log_likelihood(const char* op, const Rows& x) const;

  GaussianMixtureOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// How singular values are found. `gram`: from the products of columns, in one pass over the rows; values below 1e-8 of
/// the largest are lost. `full`: by orthogonal transformations, as accurate as the rows, in two passes. `randomized`:
/// by random projection, for many features. `automatic`: gram for up to 4096 features, else randomized; of sparse rows
/// linalg::svds, as accurate as these.
enum class SvdSolver { automatic, gram, full, randomized };

struct TruncatedSvdOptions {
  std::int64_t n_components = 2;
  SvdSolver solver = SvdSolver::automatic;
  std::int64_t oversamples = 10;  ///< of randomized: directions beyond the components
  int power_iterations = 5;       ///< of randomized: each sharpens the values that fall slowly
  std::uint64_t seed = 0;         ///< of randomized: the same components for any number of ranks
};

/// The largest singular values of the rows as they are, about 0 and not about their mean as PCA has them: latent
/// semantic analysis of counts. In float64 whatever the rows are; components are signed so that their largest entry is
/// positive. The decomposition of an array with its left vectors is linalg::svd, linalg::hsvd_rank or linalg::rsvd.
class TruncatedSVD {
 public:
  explicit TruncatedSVD(const TruncatedSvdOptions& options = {}) : options_(options) {}
  [[nodiscard]] const TruncatedSvdOptions& options() const { return options_; }

  /// Learns from (samples, features) rows. Collective, for f features and k components; nothing where rows are
  /// replicated. gram: one all-reduce of 4 f (f + 3) + 24 bytes. The others: one of 24 (f + 1) and one of 8 (k + 1),
  /// and full an all-gather of 8 bytes and one of at most 8 f^2 bytes a rank, randomized 1 + power_iterations
  /// all-reduces of 8 (f (k + oversamples) + 1). Throws ValueError for fewer samples or features than components, and
  /// numbers that are not finite.
  TruncatedSVD& fit(const Rows& x);
  /// The coordinates (samples, components) of the rows, split as they are. Local for arrays. Throws NotFittedError
  /// before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// The rows (samples, features) that have the coordinates `z`. Local for arrays.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;

  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static TruncatedSVD from_state(const ModelState& state);

  // What was learnt, on every rank. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& components() const;       ///< (components, features), orthonormal rows
  [[nodiscard]] const DNDarray& singular_values() const;  ///< (components,), falling
  /// (components,), the variances of the coordinates, divided by samples: not always falling.
  [[nodiscard]] const DNDarray& explained_variance() const;
  [[nodiscard]] const DNDarray& explained_variance_ratio() const;  ///< (components,), parts of that of all columns

 private:
  struct Learnt {
    DNDarray components, singular_values, variance, ratio;
  };
  [[nodiscard]] const Learnt& learnt(const char* what) const;

  TruncatedSvdOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

struct PcaOptions {
  std::optional<std::int64_t> n_components = std::nullopt;  ///< nullopt: all features
  bool whiten = false;                                      ///< scale the components to variance 1
};

/// Principal component analysis of the rows of a matrix, by the eigenvectors of its covariance matrix: one pass over
/// the samples in float64, and one allreduce of the means and half of features x features numbers, so for up to some
/// thousand features.
/// Components are signed so that their largest entry is positive; results do not depend on the number of ranks beyond
/// rounding.
class PCA {
 public:
  explicit PCA(const PcaOptions& options = {}) : options_(options) {}

  /// Learns from (samples, features) rows. Collective. Throws ValueError for fewer than two samples, fewer features
  /// than components, and numbers that are not finite.
  PCA& fit(const Rows& x);
  /// The coordinates (samples, components) of the rows, split as they are. Local. Throws NotFittedError before fit,
  /// ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// The rows (samples, features) that have the coordinates `z`. Local.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;

  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static PCA from_state(const ModelState& state);

  // What was learnt, on every rank. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& components() const;                ///< (components, features), orthonormal rows
  [[nodiscard]] const DNDarray& mean() const;                      ///< (features,)
  [[nodiscard]] const DNDarray& explained_variance() const;        ///< (components,), falling; divided by samples - 1
  [[nodiscard]] const DNDarray& explained_variance_ratio() const;  ///< (components,), parts of the total variance

 private:
  struct Learnt {
    DNDarray components, mean, variance, ratio;
  };
  [[nodiscard]] const Learnt& learnt() const;

  PcaOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp

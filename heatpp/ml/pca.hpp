#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

struct PcaOptions {
  std::optional<std::int64_t> n_components = std::nullopt;  ///< nullopt: all features
  bool whiten = false;                                      ///< scale the components to variance 1
};

/// Principal component analysis of the rows of a matrix, by the eigenvectors of its covariance matrix: two passes over
/// the samples in float64, with an allreduce of the means and one of features x features numbers, so for up to some
/// thousand features.
/// Components are signed so that their largest entry is positive; results do not depend on the number of ranks beyond
/// rounding.
class PCA {
 public:
  explicit PCA(const PcaOptions& options = {}) : options_(options) {}

  /// Learns from the (samples, features) array `x`, of any layout; one that is split by features is first recut by
  /// samples. Collective. Throws ValueError where `x` has not two axes and two samples, or fewer features than
  /// components.
  PCA& fit(const DNDarray& x);
  /// The coordinates (samples, components) of the rows of `x`, split as its rows. Local unless `x` is split by
  /// features. Throws ValueError before fit, and for another number of features.
  [[nodiscard]] DNDarray transform(const DNDarray& x) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  /// The rows (samples, features) that have the coordinates `z`. Local unless `z` is split by components.
  [[nodiscard]] DNDarray inverse_transform(const DNDarray& z) const;

  // What was learnt, on every rank. All throw ValueError before fit.
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

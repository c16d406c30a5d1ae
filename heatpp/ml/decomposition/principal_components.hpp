#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {
class StateReader;
}

namespace heatpp {

/// The base of PCA and IncrementalPCA: orthonormal components about a mean. All throw NotFittedError before fit.
class PrincipalComponents {
 public:
  /// Returns the coordinates (samples, components) of the rows, split as the rows. Local for arrays. Throws ValueError
  /// for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// Returns the rows (samples, features) that have the coordinates `z`. Local for arrays.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;

  // The fitted state, on every rank.
  [[nodiscard]] const DNDarray& components() const;          ///< (components, features), orthonormal rows
  [[nodiscard]] const DNDarray& mean() const;                ///< (features,)
  [[nodiscard]] const DNDarray& explained_variance() const;  ///< (components,), decreasing; divided by samples - 1
  [[nodiscard]] const DNDarray& explained_variance_ratio() const;  ///< (components,), parts of the total variance
  [[nodiscard]] const DNDarray& singular_values() const;           ///< (components,), of the centered rows
  [[nodiscard]] double noise_variance() const;  ///< the mean variance along the directions that are not kept; or 0
  [[nodiscard]] std::int64_t n_components() const;
  [[nodiscard]] std::int64_t n_samples() const;
  /// Return the covariance (features, features), which has the components' variances along them and the noise variance
  /// elsewhere, and its inverse. Local. `precision` throws ValueError if there is none.
  [[nodiscard]] DNDarray covariance() const;
  [[nodiscard]] DNDarray precision() const;

 protected:
  struct Fitted {
    DNDarray components, mean, variance, ratio, singular_values;
    double noise_variance;
    std::int64_t n_samples;
  };
  PrincipalComponents(const char* kind, bool whiten) : kind_(kind), whiten_(whiten) {}
  [[nodiscard]] const char* kind() const { return kind_; }
  ~PrincipalComponents() = default;
  PrincipalComponents(const PrincipalComponents&) = default;
  PrincipalComponents(PrincipalComponents&&) = default;
  PrincipalComponents& operator=(const PrincipalComponents&) = default;
  PrincipalComponents& operator=(PrincipalComponents&&) = default;

  [[nodiscard]] const Fitted& fitted_state(const char* what) const;
  [[nodiscard]] ModelState state_of_components() const;
  [[nodiscard]] static Fitted components_from(const ml::detail::StateReader& read);

  std::optional<Fitted> fitted_;

 private:
  const char* kind_;
  bool whiten_;
};

}  // namespace heatpp

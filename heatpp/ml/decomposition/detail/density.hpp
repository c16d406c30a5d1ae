#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/decomposition/principal_components.hpp>

namespace heatpp::ml::detail {

/// The normal distribution whose covariance has the components' variances along them and the noise variance elsewhere.
class Density {
 public:
  /// Throws ValueError naming `op` if the covariance has no inverse.
  Density(const char* op, const PrincipalComponents& model);
  /// Returns the logarithm of the density of each of these rows, (rows, 1).
  [[nodiscard]] at::Tensor of(const at::Tensor& rows) const;
  /// Returns the inverse of the covariance.
  [[nodiscard]] at::Tensor precision() const;

 private:
  at::Tensor components_, mean_, variance_;
  double noise_, constant_;
};

}  // namespace heatpp::ml::detail

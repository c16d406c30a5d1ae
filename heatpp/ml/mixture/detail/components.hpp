#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/mixture/gaussian_mixture.hpp>

// Components of a mixture, equal on every rank: small tensors of float64.
namespace heatpp::ml::detail {

struct Components {
  CovarianceType type;
  at::Tensor weights;      ///< (k,)
  at::Tensor means;        ///< (k, f)
  at::Tensor covariances;  ///< full (k, f, f), tied (f, f), diag (k, f), spherical (k,)
  at::Tensor factors;      ///< of the precisions: upper triangular, P = F F'; for diag and spherical roots
  [[nodiscard]] std::int64_t count() const { return means.size(0); }
  [[nodiscard]] std::int64_t features() const { return means.size(1); }
  /// Returns the logarithm of each component's weight times its density at its mean, (k,).
  [[nodiscard]] at::Tensor log_heights() const;
};

/// Returns factors of the precisions for covariances. Throws ValueError if one is not positive definite.
[[nodiscard]] at::Tensor factors_of(const char* op, CovarianceType type, const at::Tensor& covariances);
/// Returns the covariances for precisions. Throws ValueError if one is not positive definite.
[[nodiscard]] at::Tensor covariances_of(const char* op, CovarianceType type, const at::Tensor& precisions);
[[nodiscard]] at::Tensor precisions_of(const Components& components);
/// Returns the shape of covariances.
[[nodiscard]] Shape covariance_shape(CovarianceType type, std::int64_t k, std::int64_t f);

/// The sums of a pass, weighted by the rows' shares of components, about one place for each component, (k, f).
struct MixtureSums {
  at::Tensor counts;  ///< (k,)
  at::Tensor first;   ///< (k, f) sums of deviations
  at::Tensor second;  ///< full (k, f, f), lower triangles; diag and spherical (k, f); tied: none
  at::Tensor about;   ///< (k, f)
};
/// For tied covariances: the weighted scatter of all rows about their mean; that of the means is subtracted later.
struct TotalScatter {
  at::Tensor mean, scatter;
};
/// Returns the components of maximum likelihood. Throws ValueError if a covariance is not positive definite.
[[nodiscard]] Components maximised(const char* op, CovarianceType type, const MixtureSums& sums,
                                   const std::optional<TotalScatter>& total, double reg_covar);

}  // namespace heatpp::ml::detail

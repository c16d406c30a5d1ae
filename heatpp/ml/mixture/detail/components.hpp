#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/mixture/gaussian_mixture.hpp>

// Components of a mixture, alike on every rank: small tensors of float64.
namespace heatpp::ml::detail {

struct Components {
  CovarianceType type;
  at::Tensor weights;      ///< (k,)
  at::Tensor means;        ///< (k, f)
  at::Tensor covariances;  ///< full (k, f, f), tied (f, f), diag (k, f), spherical (k,)
  at::Tensor factors;      ///< upper triangular ones of the precisions, P = F F'; roots of diag and spherical ones
  [[nodiscard]] std::int64_t count() const { return means.size(0); }
  [[nodiscard]] std::int64_t features() const { return means.size(1); }
  /// The logarithm of a component's weight and of its density at its mean, (k,).
  [[nodiscard]] at::Tensor log_heights() const;
};

/// Factors of the precisions that belong to covariances. Throws ValueError where one is not positive definite.
[[nodiscard]] at::Tensor factors_of(const char* op, CovarianceType type, const at::Tensor& covariances);
/// What belongs to precisions instead.
[[nodiscard]] at::Tensor covariances_of(const char* op, CovarianceType type, const at::Tensor& precisions);
[[nodiscard]] at::Tensor precisions_of(const Components& components);
/// The shape of covariances.
[[nodiscard]] Shape covariance_shape(CovarianceType type, std::int64_t k, std::int64_t f);

/// What a pass has added up for the rows' shares of components, about a place for each, (k, f).
struct MixtureSums {
  at::Tensor counts;  ///< (k,)
  at::Tensor first;   ///< (k, f) sums of deviations
  at::Tensor second;  ///< full (k, f, f), lower triangles; diag and spherical (k, f); tied: none
  at::Tensor about;   ///< (k, f)
};
/// For tied covariances: the weighted scatter of all rows about their mean, of which the means' own is taken away.
struct TotalScatter {
  at::Tensor mean, scatter;
};
/// The components that are likeliest. Throws ValueError where a covariance is not positive definite.
[[nodiscard]] Components maximised(const char* op, CovarianceType type, const MixtureSums& sums,
                                   const std::optional<TotalScatter>& total, double reg_covar);

}  // namespace heatpp::ml::detail

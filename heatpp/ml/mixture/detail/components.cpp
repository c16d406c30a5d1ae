#include <heatpp/ml/mixture/detail/components.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <limits>
#include <numbers>

namespace heatpp::ml::detail {
namespace {

bool of_matrices(CovarianceType type) { return type == CovarianceType::full || type == CovarianceType::tied; }

at::Tensor cholesky(const char* op, const at::Tensor& matrices) {
  const auto [factor, info] = at::linalg_cholesky_ex(matrices);
  if (info.ne(0).any().item<bool>() || !factor.isfinite().all().item<bool>())
    heatpp::detail::raise<ValueError>(
        op,
        "got a component whose covariance is singular: too few rows differ in it; expected "
        "fewer components or features, or a larger reg_covar");
  return factor;
}

at::Tensor outer(const at::Tensor& rows) { return rows.unsqueeze(-1) * rows.unsqueeze(-2); }

at::Tensor full(const MixtureSums& sums, const at::Tensor& moved, const at::Tensor& counts, double reg_covar) {
  const auto lower = sums.second.tril();
  const auto second = (lower + lower.tril(-1).transpose(1, 2)) / counts.reshape({-1, 1, 1});
  auto covariance = second - outer(moved);
  covariance.diagonal(0, 1, 2).add_(reg_covar);
  return covariance;
}

at::Tensor tied(const TotalScatter& total, const at::Tensor& means, const at::Tensor& counts, double reg_covar) {
  const auto apart = means - total.mean;
  auto covariance = (total.scatter - at::matmul((apart * counts.unsqueeze(1)).t(), apart)) / counts.sum();
  covariance.diagonal().add_(reg_covar);
  return covariance;
}

}  // namespace

at::Tensor Components::log_heights() const {
  const auto f = static_cast<double>(features());
  const auto log_root = [&] {
    switch (type) {
      case CovarianceType::full: return factors.diagonal(0, 1, 2).log().sum(1);
      case CovarianceType::tied: return factors.diagonal().log().sum().expand({count()});
      case CovarianceType::diag: return factors.log().sum(1);
      case CovarianceType::spherical: break;
    }
    return f * factors.log();
  }();
  return (weights.log() + log_root - f / 2 * std::log(2 * std::numbers::pi)).contiguous();
}

at::Tensor factors_of(const char* op, CovarianceType type, const at::Tensor& covariances) {
  if (!of_matrices(type)) {
    if (!(covariances > 0).all().item<bool>())
      heatpp::detail::raise<ValueError>(op, "got a component without variance; expected a larger reg_covar");
    return covariances.rsqrt().contiguous();
  }
  const auto lower = cholesky(op, covariances);
  const auto unit = at::eye(lower.size(-1), at::kDouble).expand_as(lower);
  return at::linalg_solve_triangular(lower, unit, /*upper=*/false).transpose(-2, -1).contiguous();
}

at::Tensor covariances_of(const char* op, CovarianceType type, const at::Tensor& precisions) {
  if (!of_matrices(type)) return precisions.reciprocal();
  return at::cholesky_inverse(cholesky(op, precisions));
}

at::Tensor precisions_of(const Components& components) {
  const auto& factors = components.factors;
  return of_matrices(components.type) ? at::matmul(factors, factors.transpose(-2, -1)) : factors.square();
}

Shape covariance_shape(CovarianceType type, std::int64_t k, std::int64_t f) {
  switch (type) {
    case CovarianceType::full: return {k, f, f};
    case CovarianceType::tied: return {f, f};
    case CovarianceType::diag: return {k, f};
    case CovarianceType::spherical: break;
  }
  return {k};
}

Components maximised(const char* op, CovarianceType type, const MixtureSums& sums,
                     const std::optional<TotalScatter>& total, double reg_covar) {
  const auto counts = sums.counts + 10 * std::numeric_limits<double>::epsilon();
  const auto moved = sums.first / counts.unsqueeze(1), means = (sums.about + moved).contiguous();
  at::Tensor covariances;
  if (type == CovarianceType::full) covariances = full(sums, moved, counts, reg_covar);
  else if (type == CovarianceType::tied) covariances = tied(*total, means, counts, reg_covar);
  else covariances = sums.second / counts.unsqueeze(1) - moved.square() + reg_covar;
  if (type == CovarianceType::spherical) covariances = covariances.mean(1);
  return {type, counts / counts.sum(), means, covariances.contiguous(), factors_of(op, type, covariances)};
}

}  // namespace heatpp::ml::detail

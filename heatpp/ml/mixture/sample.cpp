#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/mixture/detail/components.hpp>
#include <heatpp/random/detail/draws.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Returns lower triangular roots of the covariances, (k or 1, f, f).
at::Tensor roots(CovarianceType type, const at::Tensor& covariances, std::int64_t f) {
  switch (type) {
    case CovarianceType::full: return at::linalg_cholesky(covariances).contiguous();
    case CovarianceType::tied: return at::linalg_cholesky(covariances).unsqueeze(0).contiguous();
    case CovarianceType::diag: return at::diag_embed(covariances.sqrt()).contiguous();
    case CovarianceType::spherical: break;
  }
  return at::diag_embed(covariances.sqrt().unsqueeze(1).expand({-1, f})).contiguous();
}

/// Returns the component at which the running sum of weights passes a number in (0, 1).
std::int64_t drawn(std::span<const double> weights, double u) {
  std::size_t c = 0;
  for (; c + 1 < weights.size() && u >= weights[c]; ++c) u -= weights[c];
  return static_cast<std::int64_t>(c);
}

}  // namespace

MixtureSample GaussianMixture::sample(std::int64_t count, const MixtureSampleOptions& options) const {
  const auto& found = fitted_state("GaussianMixture.sample");
  if (count < 0 || options.split.value_or(0) != 0)
    detail::raise<ValueError>("GaussianMixture.sample", "got {} rows, split {}; expected 0 or more, split 0 or none",
                              count, options.split.value_or(0));
  const auto comm = comm_of(options.comm);
  const auto f = found.means.shape()[1];
  const Layout layout({count, f}, options.split, comm.size());
  const auto first = options.split ? layout.offset(comm.rank()) : 0, mine = layout.local_shape(comm.rank())[0];
  const auto lower = roots(options_.covariance_type, found.covariances.larray(), f);
  const std::span weights(found.weights.larray().const_data_ptr<double>(),
                          static_cast<std::size_t>(found.weights.size()));
  const random::detail::Key key(random::detail::derived(options.seed, 0, random::detail::Purpose::spawn));
  auto rows = at::empty({mine, f}, at::kDouble), labels = at::empty({mine}, at::kLong);
  std::vector<double> z(static_cast<std::size_t>(f));
  for (std::int64_t i = 0; i < mine; ++i) {
    random::detail::Draws draws(key, static_cast<std::uint64_t>(first + i));
    const auto c = labels.data_ptr<std::int64_t>()[i] = drawn(weights, draws.uniform());
    for (auto& number : z) number = draws.normal();
    const auto* root = lower.const_data_ptr<double>() + c % lower.size(0) * f * f;
    const auto* mean = found.means.larray().const_data_ptr<double>() + c * f;
    for (std::int64_t j = 0; j < f; ++j) {
      auto x = mean[j];
      for (std::int64_t l = 0; l <= j; ++l) x += root[j * f + l] * z[static_cast<std::size_t>(l)];
      rows.data_ptr<double>()[i * f + j] = x;
    }
  }
  return {detail::wrap(rows, layout, comm), detail::wrap(labels, layout.with({count}, options.split), comm)};
}

}  // namespace heatpp

#include <heatpp/ml/decomposition/detail/density.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/detail/affine.hpp>

#include <cmath>
#include <numbers>

namespace heatpp::ml::detail {

Density::Density(const char* op, const PrincipalComponents& model)
    : components_(wide(model.components())),
      mean_(wide(model.mean())),
      variance_(wide(model.explained_variance()).clamp_min(model.noise_variance())),
      noise_(model.noise_variance()) {
  const auto k = components_.size(0), f = components_.size(1);
  const auto least = variance_.min().item<double>();
  if ((k < f && !(noise_ > 0)) || !(least > 0))
    heatpp::detail::raise<ValueError>(
        op, "got a least variance {} of {} components and a noise variance {} for {} features; expected more than 0",
        least, k, noise_, f);
  const auto rest = k < f ? static_cast<double>(f - k) * std::log(noise_) : 0.0;
  constant_ = static_cast<double>(f) * std::log(2 * std::numbers::pi) + variance_.log().sum().item<double>() + rest;
}

at::Tensor Density::of(const at::Tensor& rows) const {
  const auto x = rows.to(at::kDouble) - mean_, z = at::mm(x, components_.t());
  auto exponent = (z.square() / variance_).sum(1, /*keepdim=*/true);
  if (noise_ > 0) exponent += (x - at::mm(z, components_)).square().sum(1, /*keepdim=*/true) / noise_;
  return -0.5 * (exponent + constant_);
}

at::Tensor Density::precision() const {
  const auto along = at::mm(components_.t() / variance_, components_);
  if (!(noise_ > 0)) return along;
  const auto all = at::eye(components_.size(1), at::kDouble);
  return along + (all - at::mm(components_.t(), components_)) / noise_;
}

}  // namespace heatpp::ml::detail

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/detail/flat.hpp>
#include <heatpp_nn/training/detail/weight_mean.hpp>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>

namespace heatpp::nn::detail {
namespace {

std::vector<at::Tensor> floating_of(const Replica& replica) {
  auto tensors = replica.shared_module()->parameters();
  const auto buffers = replica.shared_module()->buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  std::erase_if(tensors, [](const auto& tensor) { return !tensor.is_floating_point(); });
  return tensors;
}

}  // namespace

WeightMean::WeightMean(const Replica& replica, double kept)
    : replica_(replica), kept_(kept), weights_(floating_of(replica)) {
  if (!(kept > 0 && kept < 1))
    heatpp::detail::raise<ValueError>("Trainer", "got a running mean that keeps {}; expected a share between 0 and 1",
                                      kept);
  for (const auto& weight : weights_) mean_.push_back(weight.detach().clone());
}

void WeightMean::update() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i].lerp_(weights_[i], 1 - kept_);
}

void WeightMean::swap() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const auto weight = weights_[i].clone();
    weights_[i].copy_(mean_[i]);
    mean_[i].copy_(weight);
  }
}

WeightMean::InPlace::InPlace(WeightMean& mean, bool apart) : mean_(mean) {
  if (apart) average(mean.replica_.topology(), mean.mean_);
  mean.swap();
}

void WeightMean::set(const std::vector<at::Tensor>& tensors) {
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); };
  if (!std::ranges::equal(mean_, tensors, same))
    heatpp::detail::raise<ValueError>("Trainer", "got the running mean of another network; expected this one's");
  for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i].copy_(tensors[i]);
}

}  // namespace heatpp::nn::detail

#include <heatpp_nn/training/detail/weight_mean.hpp>

#include <heatpp_nn/parallel/detail/flat.hpp>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>

namespace heatpp::nn::detail {
namespace {

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copied;
  for (const auto& tensor : tensors) copied.push_back(tensor.detach().clone());
  return copied;
}

std::vector<at::Tensor> joined(std::vector<at::Tensor> list, const std::vector<at::Tensor>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

}  // namespace

WeightMean::WeightMean(const Replica& replica, double kept)
    : replica_(replica),
      kept_(kept),
      weights_(joined(replica.flat().parameters(), replica.floating_buffers())),
      mean_(copies(weights_)) {
  const auto middle = mean_.begin() + std::ssize(replica.flat().parameters());
  of_parameters_.assign(mean_.begin(), middle);
  of_buffers_.assign(middle, mean_.end());
  for (const auto& tensor : mean_) infinite_.push_back(!tensor.isfinite().all().item<bool>());
}

void WeightMean::update(Alike alike) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    if (infinite_[i]) mean_[i].copy_(mean_[i].lerp(weights_[i], 1 - kept_).where(mean_[i] != weights_[i], mean_[i]));
    else mean_[i].lerp_(weights_[i], 1 - kept_);
  }
  alike_ = std::max(alike_, alike);
}

void WeightMean::agree(bool apart) {
  if (apart) average(replica_.topology(), of_parameters_);
  replica_.average_statistics(of_buffers_);
  alike_ = Alike::all;
}

void WeightMean::swap() {
  const at::NoGradGuard no_grad;
  const bool in_common = replica_.shards_weights();
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const auto weight = weights_[i].clone();
    if (in_common) replica_.topology().node().barrier();  // all ranks have read it before they write the same values
    weights_[i].copy_(mean_[i]);
    mean_[i].copy_(weight);
  }
  replica_.flat().accept_writes();
  shown_.reset();
}

void WeightMean::show() {
  swap();
  shown_ = replica_.checksum();
}

void WeightMean::hide() {
  if (!shown_) return;
  std::array<std::int64_t, 1> changed{replica_.checksum() != *shown_};
  replica_.topology().comm().allreduce(changed, ReduceOp::max);
  if (changed[0] == 0) swap();
  shown_.reset();
}

const at::Tensor& WeightMean::raw(const at::Tensor& tensor) const {
  if (!shown_) return tensor;
  const auto found = std::ranges::find_if(weights_, [&](const auto& weight) { return weight.is_same(tensor); });
  return found == weights_.end() ? tensor : mean_[static_cast<std::size_t>(found - weights_.begin())];
}

}  // namespace heatpp::nn::detail

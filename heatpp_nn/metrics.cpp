#include <heatpp_nn/metrics.hpp>

#include <ATen/ATen.h>

#include <array>

namespace heatpp::nn {

void Average::add(double value, double count) {
  sum_ += value * count;
  count_ += count;
}

double Average::value(const Communicator& comm) const {
  std::array<double, 2> both{sum_, count_};
  comm.allreduce(both);
  return both[0] / both[1];
}

double accuracy(const at::Tensor& scores, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  return scores.argmax(1).eq(targets).to(at::kDouble).mean().item<double>();
}

}  // namespace heatpp::nn

#include "trainer.hpp"

#include <heatpp_nn/parallel/detail/flat.hpp>
#include <heatpp_nn/training/metrics.hpp>
#include <torch/torch.h>

namespace bench {
namespace {

namespace nn = torch::nn;

/// A quadratic function, |w|^2 / 2, for any batch.
struct QuadraticImpl : nn::Module {
  at::Tensor w = register_parameter("w", torch::ones({1000}));
  at::Tensor forward(const at::Tensor& x) { return w.sum().expand({x.size(0), 10}); }
};
TORCH_MODULE(Quadratic);

std::shared_ptr<nn::SequentialImpl> make_net(const std::string& model) {
  if (model == "quadratic") return nn::Sequential(Quadratic()).ptr();
  if (model == "mlp")
    return nn::Sequential(nn::Flatten(), nn::Linear(784, 1024), nn::ReLU(), nn::Linear(1024, 1024), nn::ReLU(),
                          nn::Linear(1024, 10))
        .ptr();
  return nn::Sequential(nn::Conv2d(1, 32, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(32, 64, 3), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Flatten(), nn::Linear(1600, 128), nn::ReLU(), nn::Linear(128, 10))
      .ptr();
}

}  // namespace

Trainer::Trainer(const heatpp::Topology& topology, const TrainerOptions& options)
    : topology_(topology), waits_(options.mode == "waiting") {
  torch::manual_seed(options.seed);
  net_ = make_net(options.model);
  parameters_ = net_->parameters();
  sgd_ = std::make_unique<torch::optim::SGD>(
      parameters_, torch::optim::SGDOptions(options.learning_rate).momentum(options.momentum));
  const heatpp::nn::ReplicaOptions replica{.gradients = {.wire = options.wire}};
  if (options.mode == "data_parallel") {
    parallel_ = std::make_unique<heatpp::nn::DataParallel<Net>>(net_, topology_, replica);
  } else if (options.mode == "daso") {
    replica_ = std::make_unique<heatpp::nn::DataParallelMultiGPU<Net>>(net_, topology_, replica);
    daso_ = std::make_unique<heatpp::nn::DASO>(*replica_, *sgd_, options.daso);
  }
}

double Trainer::step(const at::Tensor& images, const at::Tensor& labels) {
  sgd_->zero_grad();
  const auto scores = net_->forward(images);
  const auto loss =
      parameters_.size() == 1 ? parameters_[0].square().sum() / 2 : at::cross_entropy_loss(scores, labels);
  loss.backward();
  const auto value = loss.item<double>();
  if (waits_) topology_.comm().barrier();
  if (parallel_) parallel_->average_gradients();
  if (daso_) daso_->step(value);
  else sgd_->step();
  return value;
}

void Trainer::finish() {
  if (daso_) daso_->drain();
}

double Trainer::accuracy(const at::Tensor& images, const at::Tensor& labels) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> own;
  for (const auto& parameter : parameters_) own.push_back(parameter.clone());
  if (daso_) heatpp::nn::detail::average(topology_, parameters_);
  std::array<double, 2> right{0, static_cast<double>(labels.size(0))};
  constexpr std::int64_t rows = 500;
  for (std::int64_t first = 0; first < labels.size(0); first += rows) {
    const auto n = std::min(rows, labels.size(0) - first);
    const auto scores = net_->forward(images.narrow(0, first, n));
    right[0] += heatpp::nn::accuracy(scores, labels.narrow(0, first, n)) * static_cast<double>(n);
  }
  for (std::size_t i = 0; i < own.size(); ++i) parameters_[i].copy_(own[i]);
  topology_.comm().allreduce(right);
  return right[0] / right[1];
}

}  // namespace bench

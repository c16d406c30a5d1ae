#include "trainer.hpp"

#include <heatpp_nn/parallel/detail/flat.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/metrics.hpp>
#include <torch/torch.h>

#include <chrono>
#include <thread>

namespace bench {
namespace {

namespace nn = torch::nn;

/// A quadratic function, |w|^2 / 2, for any batch.
struct QuadraticImpl : nn::Module {
  at::Tensor w = register_parameter("w", torch::ones({1000}));
  at::Tensor forward(const at::Tensor& x) { return w.sum().expand({x.size(0), 10}); }
};
TORCH_MODULE(Quadratic);

/// Takes an image's lines as tokens: (n, 1, 28, 28) as (28, n, 28).
struct LinesImpl : nn::Module {
  at::Tensor forward(const at::Tensor& x) { return x.squeeze(1).transpose(0, 1); }
};
TORCH_MODULE(Lines);
struct MeanImpl : nn::Module {
  at::Tensor forward(const at::Tensor& x) { return x.mean(0); }
};
TORCH_MODULE(Mean);

/// Returns a network of 99 M parameters.
std::shared_ptr<nn::SequentialImpl> make_transformer() {
  constexpr std::int64_t width = 768, layers = 14;
  nn::Sequential net(Lines(), nn::Linear(28, width));
  for (std::int64_t i = 0; i < layers; ++i)
    net->push_back(nn::TransformerEncoderLayer(
        nn::TransformerEncoderLayerOptions(width, 12).dim_feedforward(4 * width).dropout(0)));
  net->push_back(Mean());
  net->push_back(nn::Linear(width, 10));
  return net.ptr();
}

std::shared_ptr<nn::SequentialImpl> make_perceptron(std::int64_t width) {
  return nn::Sequential(nn::Flatten(), nn::Linear(784, width), nn::ReLU(), nn::Linear(width, width), nn::ReLU(),
                        nn::Linear(width, 10))
      .ptr();
}

std::shared_ptr<nn::SequentialImpl> make_net(const std::string& model) {
  if (model == "quadratic") return nn::Sequential(Quadratic()).ptr();
  if (model == "transformer") return make_transformer();
  if (model == "mlp") return make_perceptron(1024);
  if (model == "wide") return make_perceptron(4096);
  return nn::Sequential(nn::Conv2d(1, 32, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(32, 64, 3), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Flatten(), nn::Linear(1600, 128), nn::ReLU(), nn::Linear(128, 10))
      .ptr();
}

}  // namespace

Trainer::Trainer(const heatpp::Topology& topology, const TrainerOptions& options)
    : topology_(topology), waits_(options.mode == "waiting"), is_slow_(topology.across().rank() == options.slow_node) {
  torch::manual_seed(options.seed);
  net_ = make_net(options.model);
  parameters_ = net_->parameters();
  const torch::optim::SGDOptions sgd(torch::optim::SGDOptions(options.learning_rate).momentum(options.momentum));
  heatpp::nn::ReplicaOptions replica{.gradients = {.wire = options.wire}};
  const bool sharded = options.mode == "sharded";
  if (sharded) replica.shard = heatpp::nn::Scope::node;
  replica.shard_weights = sharded;
  if (sharded || options.mode == "data_parallel")
    parallel_ = std::make_unique<heatpp::nn::DataParallel<Net>>(net_, topology_, replica);
  sgd_ = std::make_unique<torch::optim::SGD>(sharded ? parallel_->parameters() : parameters_, sgd);
  if (options.mode == "daso") {
    replica_ = std::make_unique<heatpp::nn::DataParallelMultiGPU<Net>>(net_, topology_, replica);
    daso_ = std::make_unique<heatpp::nn::DASO>(*replica_, *sgd_, options.daso);
  }
}

double Trainer::step(const at::Tensor& images, const at::Tensor& labels) {
  const auto begin = std::chrono::steady_clock::now();
  sgd_->zero_grad();
  const auto scores = net_->forward(images);
  const auto loss =
      parameters_.size() == 1 ? parameters_[0].square().sum() / 2 : at::cross_entropy_loss(scores, labels);
  loss.backward();
  const auto value = loss.item<double>();
  if (is_slow_) std::this_thread::sleep_for(std::chrono::steady_clock::now() - begin);
  if (waits_) topology_.comm().barrier();
  if (daso_) daso_->step(value);
  else if (parallel_) parallel_->step(*sgd_);
  else sgd_->step();
  return value;
}

void Trainer::finish() {
  if (daso_) daso_->drain();
}

void Trainer::save(const std::string& path) {
  if (daso_) heatpp::nn::save_checkpoint(path, *daso_);
  else heatpp::nn::save_checkpoint(path, *parallel_, *sgd_);
}
void Trainer::load(const std::string& path) {
  if (daso_) heatpp::nn::load_checkpoint(path, *daso_);
  else heatpp::nn::load_checkpoint(path, *parallel_, *sgd_);
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

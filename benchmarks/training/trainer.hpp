#pragma once

#include <heatpp/comm/topology.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <torch/nn/modules/container/sequential.h>
#include <torch/optim/sgd.h>

namespace bench {

struct TrainerOptions {
  /// mlp, wide (20 M parameters), cnn, transformer (99 M parameters), or quadratic, whose weights only shrink
  std::string model = "mlp";
  /// none; waiting: none, but all ranks step together; data_parallel; sharded: it with shared weights; or daso
  std::string mode = "data_parallel";
  double learning_rate = 0.2;
  double momentum = 0.9;
  std::uint64_t seed = 1;
  heatpp::nn::DasoOptions daso = {};
  heatpp::Wire wire = heatpp::Wire::float32;  ///< wire format of gradients
  int slow_node = -1;                         ///< node each step of which sleeps as long as it computed; -1: none
};

/// A method of training one of the models.
class Trainer {
 public:
  Trainer(const heatpp::Topology& topology, const TrainerOptions& options);

  /// Trains a batch of images (n, 1, 28, 28) and labels. Returns the loss.
  double step(const at::Tensor& images, const at::Tensor& labels);
  /// Makes all ranks hold the same weights.
  void finish();
  /// Writes the state of the training to a file by `save_checkpoint`, and reads it back. Not for mode none. Collective.
  void save(const std::string& path);
  void load(const std::string& path);
  /// Returns the share of these rows that the mean of all ranks' weights gets right. Changes nothing. Collective.
  [[nodiscard]] double accuracy(const at::Tensor& images, const at::Tensor& labels);

  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return parameters_; }
  [[nodiscard]] heatpp::nn::DASO* daso() const { return daso_.get(); }

 private:
  using Net = torch::nn::SequentialImpl;
  heatpp::Topology topology_;
  std::shared_ptr<Net> net_;
  std::vector<at::Tensor> parameters_;
  std::unique_ptr<torch::optim::SGD> sgd_;
  std::unique_ptr<heatpp::nn::DataParallel<Net>> parallel_;
  std::unique_ptr<heatpp::nn::DataParallelMultiGPU<Net>> replica_;
  std::unique_ptr<heatpp::nn::DASO> daso_;
  bool waits_, is_slow_;
};

}  // namespace bench

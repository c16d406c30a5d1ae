#pragma once

#include "training.hpp"

/// A training with random numbers, momenta and running statistics.
struct SavedRun {
  std::shared_ptr<torch::nn::SequentialImpl> net;
  std::unique_ptr<heatpp::nn::DataParallelMultiGPU<torch::nn::SequentialImpl>> model;
  std::unique_ptr<torch::optim::Adam> adam;
  std::unique_ptr<heatpp::nn::DASO> daso;

  explicit SavedRun(const ht::Topology& topology, heatpp::nn::DasoOptions options = {.interval = {.first = {2, 1}}},
                    std::int64_t width = 6, std::int64_t total = 24) {
    torch::manual_seed(11);
    net = std::make_shared<torch::nn::SequentialImpl>(torch::nn::Linear(5, width), torch::nn::BatchNorm1d(width),
                                                      torch::nn::Dropout(0.3), torch::nn::Linear(width, 3));
    model = std::make_unique<heatpp::nn::DataParallelMultiGPU<torch::nn::SequentialImpl>>(
        net, topology, heatpp::nn::ReplicaOptions{.gradients = {.wire = options.wire}});
    adam = std::make_unique<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(0.01));
    options.phases = {.warmup = 3, .cooldown = 3, .total = total};
    options.review_every = 5;
    daso = std::make_unique<heatpp::nn::DASO>(*model, *adam, options);
    torch::manual_seed(100 + static_cast<std::uint64_t>(ht::world().rank()));
  }

  void train(std::int64_t first, std::int64_t last) {
    for (auto b = first; b < last; ++b) {
      daso->zero_grad();
      const auto [x, y] = my_batch(b, 4);
      const auto loss = torch::mse_loss(net->forward(x.to(torch::kFloat)), y.to(torch::kFloat));
      loss.backward();
      daso->step(loss);
    }
  }
};

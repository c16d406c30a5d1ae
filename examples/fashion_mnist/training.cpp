#include "training.hpp"

#include <fmt/format.h>
#include <heatpp_nn/training/metrics.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <torch/optim/sgd.h>

namespace nn = heatpp::nn;

double train_network(const nn::Dataset& train, const nn::Dataset& test, const heatpp::Topology& topology,
                     const TrainingOptions& options) {
  torch::manual_seed(options.seed);
  nn::DataParallelMultiGPU model(std::make_shared<SmallCnn>(), topology);
  torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(options.learning_rate).momentum(0.9));
  nn::Trainer trainer(
      model, sgd,
      [](const at::Tensor& scores, const at::Tensor& labels) { return at::cross_entropy_loss(scores, labels); },
      {.epochs = options.epochs,
       .batch_size = options.batch_size,
       .seed = options.seed,
       .rate =
           [&](const nn::TrainingLength& length) {
             const auto rise = length.epoch / 2;
             return nn::warmed_up(nn::cosine_rate({.rate = options.learning_rate, .length = length.total - rise}),
                                  rise);
           },
       .daso = options.daso,
       .phases = {.warmup = 0.25, .cooldown = 0.25},
       .metrics = {{"accuracy", nn::accuracy}},
       .folder = options.out,
       .resume = options.resume});
  const auto result = trainer.fit(train, test);
  if (topology.comm().rank() == 0) {
    for (const auto& epoch : result.epochs)
      fmt::print("epoch {}: loss {:.4f}, test accuracy {:.4f}\n", epoch.epoch + 1, epoch.loss,
                 epoch.validation->metrics.at("accuracy"));
    fmt::print("{}\n", to_string(*trainer.daso()));
  }
  return trainer.evaluate(test).metrics.at("accuracy");
}

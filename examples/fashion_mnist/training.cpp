#include "training.hpp"

#include <fmt/format.h>
#include <heatpp_nn/heatpp_nn.hpp>
#include <torch/optim/sgd.h>

#include <iostream>
#include <numeric>

namespace nn = heatpp::nn;

namespace {

using Model = nn::DataParallelMultiGPU<SmallCnn>;

/// A quarter of the training with all ranks in step at either end, and the cycle between.
nn::DasoOptions daso_options(std::int64_t batches) {
  return {.phases = {.warmup = batches / 4, .cooldown = batches / 4, .total = batches},
          .review_every = std::max<std::int64_t>(1, batches / 24)};
}

class Training {
 public:
  Training(const nn::Dataset& train, const nn::Dataset& test, const heatpp::Topology& topology,
           const TrainingOptions& options)
      : options_(options),
        comm_(topology.comm()),
        test_(test),
        loader_(train,
                {.batch_size = std::max<std::int64_t>(1, options.batch_size / comm_.size()), .seed = options.seed}),
        model_(std::make_shared<SmallCnn>(), topology),
        sgd_(model_.parameters(), torch::optim::SGDOptions(options.learning_rate).momentum(0.9)),
        daso_(model_, sgd_, daso_options(options.epochs * loader_.batches())),
        rate_{.peak = options.learning_rate,
              .warmup = loader_.batches() / 2,
              .total = options.epochs * loader_.batches()},
        events_(comm_, (options.out / "tensorboard").string()) {}

  double run() {
    const auto checkpoint = (options_.out / "checkpoint.pt").string();
    auto epoch = options_.resume ? nn::load_checkpoint(checkpoint, daso_).position.epoch : 0;
    double accuracy = epoch < options_.epochs ? 0 : evaluate();
    for (; epoch < options_.epochs; ++epoch) {
      train_epoch(epoch);
      daso_.drain();  // all ranks evaluate the same weights
      save_checkpoint(checkpoint, daso_, {.epoch = epoch + 1});
      accuracy = evaluate();
      report(accuracy);
    }
    draw();
    return accuracy;
  }

 private:
  void train_epoch(std::int64_t epoch) {
    std::vector<double> losses;
    const auto first = daso_.batch();
    nn::ProgressBar bar(comm_,
                        {.total = loader_.batches(), .label = fmt::format("epoch {}/{}", epoch + 1, options_.epochs)});
    for (const auto& [images, labels] : loader_.epoch(epoch)) {
      losses.push_back(train_batch(images, labels));
      bar.update(loader_.batch_size() * comm_.size(), losses.back());
    }
    bar.finish();
    keep(first, losses);
  }

  double train_batch(const at::Tensor& images, const at::Tensor& labels) {
    nn::set_learning_rate(sgd_, rate_.at(daso_.batch()));
    daso_.zero_grad();
    const auto loss = at::cross_entropy_loss(model_(images), labels);
    loss.backward();
    const auto value = loss.item<double>();
    daso_.step(value);
    return value;
  }

  /// The losses of an epoch as means over the ranks, for the picture and TensorBoard.
  void keep(std::int64_t first, std::vector<double>& losses) {
    comm_.allreduce(losses);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const auto batch = first + static_cast<std::int64_t>(i);
      batches_.push_back(static_cast<double>(batch));
      losses_.push_back(losses[i] / comm_.size());
      events_.scalar("train/loss", losses_.back(), batch);
      events_.scalar("train/learning_rate", rate_.at(batch), batch);
    }
    events_.scalar("daso/interval", static_cast<double>(daso_.interval().batches), daso_.batch());
  }

  double evaluate() {
    const at::NoGradGuard no_grad;
    constexpr std::int64_t rows = 500;
    nn::Average accuracy;
    const auto &images = test_.inputs().larray(), &labels = test_.targets().larray();
    for (std::int64_t first = 0; first < images.size(0); first += rows) {
      const auto n = std::min(rows, images.size(0) - first);
      accuracy.add(nn::accuracy(model_(images.narrow(0, first, n)), labels.narrow(0, first, n)),
                   static_cast<double>(n));
    }
    return accuracy.value(comm_);
  }

  void report(double accuracy) {
    events_.scalar("test/accuracy", accuracy, daso_.batch());
    events_.flush();
    if (comm_.rank() == 0)
      std::cout << fmt::format("test accuracy {:.4f}; {}\n", accuracy, to_string(daso_)) << std::flush;
  }

  void draw() {
    nn::LossPlot plot({.title = "Fashion-MNIST"});
    plot.add_curve("loss", batches_, losses_);
    plot.add_curve("loss, smoothed", batches_, nn::smoothed(losses_, 31));
    plot.shade_phases(daso_.events(), daso_.batch());
    plot.save(comm_, (options_.out / "loss.svg").string());
  }

  TrainingOptions options_;
  heatpp::Communicator comm_;
  nn::Dataset test_;
  nn::DataLoader loader_;
  Model model_;
  torch::optim::SGD sgd_;
  nn::DASO daso_;
  nn::WarmupCosine rate_;
  nn::TensorBoardWriter events_;
  std::vector<double> batches_, losses_;
};

}  // namespace

double train_network(const nn::Dataset& train, const nn::Dataset& test, const heatpp::Topology& topology,
                     const TrainingOptions& options) {
  torch::manual_seed(options.seed);
  return Training(train, test, topology, options).run();
}

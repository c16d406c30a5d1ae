#pragma once

#include "network.hpp"

#include <heatpp/comm/topology.hpp>
#include <heatpp_nn/data/dataset.hpp>
#include <heatpp_nn/parallel/daso_options.hpp>
#include <filesystem>

struct TrainingOptions {
  std::int64_t epochs = 3;
  std::int64_t batch_size = 128;  ///< on all ranks together
  double learning_rate = 0.1;
  std::uint64_t seed = 1;
  std::filesystem::path out = "out";
  heatpp::nn::DasoOptions daso = {};
  bool resume = false;  ///< continue from the checkpoint in `out`
};

/// Trains a SmallCnn on `train` with DASO and reports its accuracy on `test` after every epoch. Writes a checkpoint,
/// TensorBoard's events and a picture of the loss to `out`. Returns the last accuracy. Collective.
double train_network(const heatpp::nn::Dataset& train, const heatpp::nn::Dataset& test,
                     const heatpp::Topology& topology, const TrainingOptions& options);

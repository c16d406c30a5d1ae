#pragma once

#include <heatpp/comm/topology.hpp>
#include <string>

/// The training of ResNet-50 on a simulated machine.
struct TrainingOptions {
  std::string method;              ///< daso; zero; or an all-reduce that averages gradients
  double images = 32;              ///< images of a rank in a batch
  double rate = 2470;              ///< images that a rank trains in a second without messages
  double slice = 20e-6;            ///< seconds between two looks at messages, while the network is computed
  std::int64_t bucket = 25 << 20;  ///< bytes of gradients that travel together
  std::int64_t interval = 4;       ///< batches between synchronizations of DASO
  std::int64_t wait = 1;           ///< batches until they are merged
};

/// The seconds of a batch: its computation, and the time that messages add.
struct BatchTime {
  double computed = 0, exposed = 0;
};

/// Trains as heatpp_nn does: it sends messages and waits for computing times, without numbers. Collective.
BatchTime train(const heatpp::Topology& topology, const TrainingOptions& options);

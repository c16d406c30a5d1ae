#pragma once

#include <heatpp/comm/topology.hpp>
#include <string>

/// How ResNet-50 is trained on a simulated machine.
struct TrainingOptions {
  std::string method;              ///< daso; zero; or an all-reduce, by which gradients are averaged
  double images = 32;              ///< of a rank in a batch
  double rate = 2470;              ///< images that a rank trains in a second where nothing is sent
  double slice = 20e-6;            ///< seconds between two looks at messages, while the network is computed
  std::int64_t bucket = 25 << 20;  ///< bytes of gradients that travel together
  std::int64_t interval = 4;       ///< batches between synchronisations of DASO
  std::int64_t wait = 1;           ///< batches until they are merged
};

/// The seconds of a batch: its computation, and what sending adds to it.
struct BatchTime {
  double computed = 0, exposed = 0;
};

/// Trains as heatpp_nn does, in messages and computing times without numbers. Collective.
BatchTime train(const heatpp::Topology& topology, const TrainingOptions& options);

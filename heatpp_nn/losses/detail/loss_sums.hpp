#pragma once

#include <heatpp/comm/communicator.hpp>

#include <array>
#include <vector>

namespace heatpp::nn::detail {

/// The losses of an epoch.
struct EpochLoss {
  double sum = 0;     ///< of value times weight
  double weight = 0;  ///< of all rows
};

/// The losses of the batches of this rank, until the means over all ranks are asked for.
class LossSums {
 public:
  /// The mean loss of a batch, and by how much it counts.
  void add(double value, double weight);

  /// Since `begin`, over all ranks. Collective.
  [[nodiscard]] EpochLoss epoch(const Communicator& comm) const;
  /// Begins an epoch, with what this rank brings along of it.
  void begin(const EpochLoss& epoch = {}) { mine_ = epoch; }

  /// The loss of each batch since the last call, as the mean over all ranks; 0 where nothing counts. Collective.
  [[nodiscard]] std::vector<double> take_batches(const Communicator& comm);

 private:
  EpochLoss mine_;
  std::vector<double> sums_, weights_;  // of each batch
};

}  // namespace heatpp::nn::detail

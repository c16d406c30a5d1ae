#pragma once

#include <heatpp/comm/communicator.hpp>

#include <array>
#include <vector>

namespace heatpp::nn::detail {

/// The losses of an epoch.
struct EpochLoss {
  double sum = 0;     ///< sum of value times weight
  double weight = 0;  ///< sum over all rows
};

/// Collects the losses of this rank's batches until the means over all ranks are asked for.
class LossSums {
 public:
  /// Adds the mean loss of a batch and its weight.
  void add(double value, double weight);

  /// Returns the sums since `begin`, over all ranks. Collective.
  [[nodiscard]] EpochLoss epoch(const Communicator& comm) const;
  /// Returns the sums of this rank since `begin`.
  [[nodiscard]] const EpochLoss& own() const { return mine_; }
  /// Begins an epoch, with the sums that this rank already has of it.
  void begin(const EpochLoss& epoch = {}) { mine_ = epoch; }

  /// Returns the loss of each batch since the last call, as the mean over all ranks; 0 if its weight is 0. Collective.
  [[nodiscard]] std::vector<double> take_batches(const Communicator& comm);

 private:
  EpochLoss mine_;
  std::vector<double> sums_, weights_;  // for each batch
};

}  // namespace heatpp::nn::detail

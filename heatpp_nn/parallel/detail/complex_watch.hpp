#pragma once

#include <heatpp_nn/parallel/detail/flat_parameters.hpp>

namespace heatpp::nn::detail {

/// Detects an optimizer of the module's own complex parameters. These have no gradients; the real numbers that replace
/// them have (`FlatParameters::complex`). After the first batch with such gradients it stores these numbers. If an
/// optimizer uses them, some have changed, or gradients were cleared, by the end of the second batch.
class ComplexWatch {
 public:
  explicit ComplexWatch(const FlatParameters& flat) : flat_(flat) {}

  /// Stops the check, because the optimizer is known to use the real numbers.
  void end();
  /// Whether all gradients of the previous batch are still there, and no number has changed. Local.
  [[nodiscard]] bool unused();
  /// Stores the numbers after the gradients of a batch were set.
  void begin();

 private:
  const FlatParameters& flat_;
  std::vector<at::Tensor> before_;
  bool ended_ = false;
};

}  // namespace heatpp::nn::detail

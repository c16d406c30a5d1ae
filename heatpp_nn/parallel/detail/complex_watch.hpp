#pragma once

#include <heatpp_nn/parallel/detail/flat_parameters.hpp>

namespace heatpp::nn::detail {

/// Notices an optimizer of the module's own complex parameters, which have no gradients: those are given to the real
/// numbers in their place (`FlatParameters::complex`). After the first batch that has such gradients it remembers these
/// numbers; an optimizer of them has changed some, or has taken gradients away, by the end of the second.
class ComplexWatch {
 public:
  explicit ComplexWatch(const FlatParameters& flat) : flat_(flat) {}

  /// The optimizer is known to be one of the real numbers: there is nothing to look for any longer.
  void end();
  /// Whether all gradients of the batch before are where they were, and nobody has stepped by any. Local.
  [[nodiscard]] bool unused();
  /// Remembers the numbers after the gradients of a batch were given.
  void begin();

 private:
  const FlatParameters& flat_;
  std::vector<at::Tensor> before_;
  bool ended_ = false;
};

}  // namespace heatpp::nn::detail

#pragma once

#include <heatpp_nn/training/inference.hpp>

#include <exception>

namespace heatpp::nn::detail {

/// Throws ValueError that names the dtypes if a module failed because inputs have another dtype than its weights.
/// Otherwise does nothing.
void explain_dtypes(const std::exception& error, const torch::nn::Module& module, const Tensors& inputs);

/// Returns the outputs for a training batch. If BatchNorm refuses one row, throws ValueError that names the options.
[[nodiscard]] Tensors trained_outputs(const Network& network, const Batch& batch);

/// Keeps what this rank's part of a batch throws until all ranks have ended theirs, since they wait for its gradients.
class KeptError {
 public:
  /// Runs `work`, and keeps its error.
  void during(const std::function<void()>& work);
  explicit operator bool() const { return error_ != nullptr; }
  /// Returns a loss whose gradients are NaN for all trained weights, so that no rank makes a step.
  [[nodiscard]] at::Tensor loss(const torch::nn::Module& module) const;
  void throw_own();
  /// Throws on all ranks what any keeps; a rank that keeps one throws its own. Collective: an all-reduce of 16 bytes.
  void throw_of_any(const Communicator& comm);

 private:
  std::exception_ptr error_;
};

}  // namespace heatpp::nn::detail

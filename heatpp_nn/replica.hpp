#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/topology.hpp>
#include <heatpp_nn/detail/flat.hpp>
#include <memory>

namespace torch::nn {
class Module;
}

namespace heatpp::nn {

struct ReplicaOptions {
  bool broadcast = true;  ///< give every rank the weights of rank 0; otherwise they must be equal already
};

/// The ranks between which something is averaged.
enum class Scope { node, all };

/// This rank's copy of a module that all ranks of a topology train together. `DataParallel` and `DataParallelMultiGPU`
/// are replicas that know the module's type. What is trained is what requires gradients at construction, each tensor
/// once; tensors on a GPU are staged through host memory.
class Replica {
 public:
  /// Collective. Changes weights and buffers by nothing but the broadcast from rank 0. Throws ValueError on all ranks
  /// where the modules differ in names, shapes, dtypes or frozen parameters, or the weights after that.
  Replica(std::shared_ptr<torch::nn::Module> module, const Topology& topology, const ReplicaOptions& options = {});

  [[nodiscard]] const std::shared_ptr<torch::nn::Module>& shared_module() const { return module_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// The parameters that are trained, for the optimizer.
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return trained_; }
  [[nodiscard]] std::int64_t gradient_bytes() const { return gradients_.bytes(); }

  /// Replaces every gradient by its mean over `scope`, in one message for each dtype; a parameter without a gradient
  /// on some rank counts as zero there. Every rank of the scope gets the same bits. Returns false, and leaves the
  /// gradients alone, where a mean is not finite. Collective over the scope.
  [[nodiscard]] bool average_gradients_over(Scope scope);
  /// Throws ValueError on all ranks, naming a rank and parameter whose own gradient was not finite. Collective over
  /// all. To be called once such a mean was seen.
  [[noreturn]] void throw_not_finite(std::string_view op) const;

  /// Averages the floating-point buffers (BatchNorm's statistics) over all ranks; others become rank 0's. Between
  /// calls each rank keeps its own. Collective.
  void average_buffers();

  /// CRC-32C of all parameters and buffers. Local.
  [[nodiscard]] std::uint32_t checksum() const;
  /// Whether the weights and buffers of all ranks are equal to the bit. Collective.
  [[nodiscard]] bool equal_on_all_ranks() const;

 private:
  void check_structure() const;
  void broadcast_from_rank_0();
  [[nodiscard]] bool average_alone();
  void find_bad_gradient();

  std::shared_ptr<torch::nn::Module> module_;
  Topology topology_, node_;        // all ranks, and those of this rank's node alone
  std::vector<std::string> names_;  // of the trained parameters
  std::vector<at::Tensor> trained_;
  std::vector<at::Tensor> everything_;  // parameters and buffers, each once
  std::vector<at::Tensor> buffers_;
  detail::FlatBuffers gradients_;
  std::optional<std::string> bad_;  // the first parameter whose gradient on this rank was not finite
};

}  // namespace heatpp::nn

#pragma once

#include <heatpp/comm/topology.hpp>
#include <heatpp_nn/parallel/detail/gradient_average.hpp>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace heatpp::nn {

/// Options of SyncBatchNorm; they mean what BatchNorm's do.
struct SyncBatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< share of a batch in the running statistics; nullopt: of all batches alike
  bool affine = true;
  bool track_running_stats = true;
};

/// Batch normalisation over the rows of many ranks, for inputs of rows x features x anything: BatchNorm1d, 2d and 3d in
/// one, under their names. It is one of this rank's rows until `synchronise_norms` tells it its ranks. From then on, in
/// train mode, outputs, running statistics and gradients are those of a BatchNorm on one rank that has the rows of all,
/// however these lie, in one all-reduce of three numbers for each feature forward, which merges means and squares
/// (Chan, Golub, LeVeque 1983), and one of two backward.
class SyncBatchNormImpl : public torch::nn::Module {
 public:
  explicit SyncBatchNormImpl(std::int64_t features, const SyncBatchNormOptions& options = {});

  /// Throws ValueError for inputs of other features, and where all ranks together have one value of each in train mode.
  /// Collective over its ranks in train mode, and so is backward: a rank without rows calls both with none.
  at::Tensor forward(const at::Tensor& x);

  /// From now on those of `comm`, which has to be used for nothing else meanwhile; of one rank, it has no effect.
  /// Local.
  void set_ranks(const Communicator& comm) { comm_ = comm; }
  [[nodiscard]] bool is_synchronised() const { return comm_ && comm_->size() > 1; }
  /// Those, or nullptr where it normalises by this rank's rows alone.
  [[nodiscard]] const Communicator* ranks() const { return is_synchronised() ? &*comm_ : nullptr; }

  at::Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 private:
  /// The share of this batch in the running statistics.
  double count_batch();
  [[nodiscard]] at::Tensor forward_of_all(const at::Tensor& x, double share);

  std::int64_t features_;
  SyncBatchNormOptions options_;
  std::optional<Communicator> comm_;
};
TORCH_MODULE(SyncBatchNorm);

/// Lets the SyncBatchNorm layers of a module normalise over the rows of all ranks, or of each node, as DASO needs whose
/// nodes train apart: ResNet and UNet have such layers. Returns how many there are. A module of layers that are
/// LibTorch's BatchNorm throws ValueError, which names the first. Collective.
std::int64_t synchronise_norms(torch::nn::Module& module, const Topology& topology, Scope scope = Scope::all);

/// The ranks over which the layers of a module normalise, the most if they differ; nullptr: each by its own rows.
/// Local.
[[nodiscard]] const Communicator* ranks_of_norms(const torch::nn::Module& module);
/// Whether a module has layers that normalise over several ranks. Local.
[[nodiscard]] bool has_synchronised_norms(const torch::nn::Module& module);

}  // namespace heatpp::nn

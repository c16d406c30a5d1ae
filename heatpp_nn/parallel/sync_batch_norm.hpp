#pragma once

#include <heatpp/comm/topology.hpp>
#include <heatpp_nn/parallel/detail/gradient_average.hpp>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace heatpp::nn {

/// Options of SyncBatchNorm, with the meaning of BatchNorm's.
struct SyncBatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< share of a batch in the running statistics; nullopt: all batches equally
  bool affine = true;
  bool track_running_stats = true;
};

/// Batch normalisation over the rows of many ranks, for inputs of rows x features x anything: BatchNorm1d, 2d and 3d in
/// one, with their names. Before `synchronise_norms` sets its ranks, it uses only this rank's rows. Afterwards, in
/// train mode, outputs, running statistics and gradients are those of a BatchNorm on one rank with the rows of all, for
/// any distribution of the rows. Forward makes one all-reduce of three numbers for each feature, which merges means and
/// squares (Chan, Golub, LeVeque 1983), backward one of two.
class SyncBatchNormImpl : public torch::nn::Module {
 public:
  explicit SyncBatchNormImpl(std::int64_t features, const SyncBatchNormOptions& options = {});

  /// Collective over its ranks in train mode, as is backward: a rank without rows calls both with none. Throws
  /// ValueError for another number of features, and in train mode if all ranks together have one value of each.
  at::Tensor forward(const at::Tensor& x);

  /// Normalises over the ranks of `comm` from now on. Nothing else may use `comm` meanwhile. A `comm` of one rank has
  /// no effect. Local.
  void set_ranks(const Communicator& comm) { comm_ = comm; }
  [[nodiscard]] bool is_synchronised() const { return comm_ && comm_->size() > 1; }
  /// Returns the communicator of these ranks, or nullptr if it uses only this rank's rows.
  [[nodiscard]] const Communicator* ranks() const { return is_synchronised() ? &*comm_ : nullptr; }

  at::Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 private:
  /// Returns the share of this batch in the running statistics.
  double count_batch();
  [[nodiscard]] at::Tensor forward_of_all(const at::Tensor& x, double share);

  std::int64_t features_;
  SyncBatchNormOptions options_;
  std::optional<Communicator> comm_;
};
TORCH_MODULE(SyncBatchNorm);

/// Lets the SyncBatchNorm layers of a module, such as those of ResNet and UNet, normalise over the rows of all ranks,
/// or of each node, as DASO requires because its nodes train independently. Returns their number. Collective. Throws
/// ValueError with the name of the first LibTorch BatchNorm, if there is one.
std::int64_t synchronise_norms(torch::nn::Module& module, const Topology& topology, Scope scope = Scope::all);

/// Returns the ranks over which the layers of a module normalise, the most if they differ; nullptr: each rank uses its
/// own rows. Local.
[[nodiscard]] const Communicator* ranks_of_norms(const torch::nn::Module& module);
/// Whether a module has layers that normalise over several ranks. Local.
[[nodiscard]] bool has_synchronised_norms(const torch::nn::Module& module);

}  // namespace heatpp::nn
